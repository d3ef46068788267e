#include "ladon/examples/particles/results.h"

#include <cmath>

namespace ladon::example {
namespace {

const std::vector<Column> columns = {
    {"mean_error",
     "distance of the particles' mean from the target's, in its standard deviations; mean over "
     "seeds ± standard error, as all that follows; of independent draws the error that a mean over "
     "as many sets of them would have",
     Better::lower},
    {"variance_ratio",
     "the particles' total variance over the target's: 1 where it is right, 0 where all sit at one "
     "place"},
    {"inner_half",
     "share of particles in the smallest region that holds half of the probability: 0.5 where it "
     "is right, 1 where they crowd at modes"},
    {"mode_mass", "share of particles at the right one of two modes: 0.5 where it is right"},
    {"ksd",
     "kernelized Stein discrepancy (V-statistic, its root; inverse multiquadric, h² the target's "
     "total variance for all methods): 0 would be the target",
     Better::lower},
    {"pooled_mean_error", "as mean_error, of all places in the second half of the run",
     Better::lower},
    {"pooled_variance_ratio", "as variance_ratio, of the same"},
    {"pooled_mode_mass", "as mode_mass, of the same"}};

/// A figure for each column.
std::vector<double> figures_of(const Outcome& o) {
  return {o.end.mean_error,    o.end.variance_ratio,    o.end.inner_half,  o.end.mode_mass, o.ksd,
          o.pooled.mean_error, o.pooled.variance_ratio, o.pooled.mode_mass};
}

/// Means over the runs, of which one that diverged makes the row a diverged one.
Row row_of(const std::string& name, const std::vector<Outcome>& runs) {
  Row row{name, {}};
  for (std::size_t column = 0; column < columns.size(); ++column) {
    std::vector<double> values;
    for (const Outcome& o : runs) values.push_back(figures_of(o)[column]);
    row.figures.push_back(estimate(values));
  }
  for (const Outcome& o : runs) row.diverged |= o.diverged_at != 0;
  return row;
}

nlohmann::ordered_json as_json(const Figures& f) {
  return {{"mean_error", f.mean_error},
          {"variance_ratio", f.variance_ratio},
          {"inner_half", f.inner_half},
          {"mode_mass", f.mode_mass}};
}

nlohmann::ordered_json as_json(const Tensor& places) {
  auto rows = nlohmann::ordered_json::array();
  for (const Point& p : points_of(places)) rows.push_back({p.x, p.y});
  return rows;
}

nlohmann::ordered_json run_as_json(const Settings& s, const TargetStudy& study, const Outcome& o,
                                   bool with_frames) {
  nlohmann::ordered_json run{{"target", study.target.name}, {"method", o.method}, {"seed", o.seed}};
  run.update(as_json(o.end));
  run["ksd"] = o.ksd;
  run["pooled"] = as_json(o.pooled);
  if (o.diverged_at != 0) {
    run["diverged_at"] = o.diverged_at;
    return run;
  }
  run["places"] = as_json(o.frames.back());
  for (std::size_t i = 0; with_frames && i < o.frames.size(); ++i)
    run["frames"].push_back({{"step", step_of(i, s)}, {"places", as_json(o.frames[i])}});
  return run;
}

}  // namespace

Table table_of(const TargetStudy& study, const std::string& of, const std::string& before) {
  Table table(of, columns);
  for (const std::vector<Outcome>& runs : study.runs)
    table.add(row_of(before + runs.front().method, runs));
  // The standard error that a mean over as many sets of draws as there are seeds would have.
  Row chance = row_of(before + study.independent.front().method, study.independent);
  const auto sets = static_cast<double>(study.independent.size()),
             seeds = static_cast<double>(study.runs.front().size());
  for (Measured& figure : chance.figures) figure.se *= seeds > 1 ? std::sqrt(sets / seeds) : NAN;
  table.add(chance);
  return table;
}

nlohmann::ordered_json details(const Settings& s, const std::vector<TargetStudy>& studies) {
  nlohmann::ordered_json truth, runs = nlohmann::ordered_json::array();
  for (const TargetStudy& study : studies) {
    const Moments& m = study.truth.moments();
    truth[study.target.name] = {{"mean", m.mean.to_vector<double>()},
                                {"variance", m.variance.to_vector<double>()},
                                {"mode_mass", m.right_mode},
                                {"h2", m.total_variance}};
    const std::size_t shown = typical_run(study);
    for (const std::vector<Outcome>& of_seeds : study.runs)
      for (std::size_t i = 0; i < of_seeds.size(); ++i)
        runs.push_back(
            run_as_json(s, study, of_seeds[i], study.target.name == s.course && i == shown));
  }
  return {{"truth", truth}, {"runs", runs}};
}

}  // namespace ladon::example
