#include <cmath>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/particles/study.h"

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

/// Figures of a run, one per column.
std::vector<double> figures_of(const Outcome& o) {
  return {o.end.mean_error,    o.end.variance_ratio,    o.end.inner_half,  o.end.mode_mass, o.ksd,
          o.pooled.mean_error, o.pooled.variance_ratio, o.pooled.mode_mass};
}

/// Means over the runs. If one diverged, the row is marked as diverged.
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

}  // namespace

Table table_of(const TargetStudy& study, const std::string& of, const std::string& before) {
  Table table(of, columns);
  for (const auto& runs : study.runs) table.add(row_of(before + runs.front().method, runs));
  // Standard errors are rescaled, from a mean over all sets of draws to a mean over as many sets as
  // there are seeds.
  Row chance = row_of(before + study.independent.front().method, study.independent);
  const auto sets = static_cast<double>(study.independent.size()),
             seeds = static_cast<double>(study.runs.front().size());
  for (Measured& figure : chance.figures) figure.se *= seeds > 1 ? std::sqrt(sets / seeds) : NAN;
  table.add(chance);
  return table;
}

nlohmann::ordered_json details(const std::vector<TargetStudy>& studies) {
  nlohmann::ordered_json truth, all = nlohmann::ordered_json::array();
  for (const TargetStudy& study : studies) {
    const Moments& m = study.truth.moments();
    truth[study.target.name] = {{"mean", m.mean.to_vector<double>()},
                                {"variance", m.variance.to_vector<double>()},
                                {"mode_mass", m.right_mode}};
    for (const std::vector<Outcome>& runs : study.runs)
      for (const Outcome& o : runs) {
        nlohmann::ordered_json run{
            {"target", study.target.name}, {"method", o.method}, {"seed", o.seed}};
        for (std::size_t c = 0; c < columns.size(); ++c) run[columns[c].name] = figures_of(o)[c];
        run["pooled_inner_half"] = o.pooled.inner_half;
        if (o.diverged_at == 0)
          run["places"] = json_rows(o.frames.back());
        else
          run["diverged_at"] = o.diverged_at;
        all.push_back(run);
      }
  }
  return {{"truth", truth}, {"runs", all}};
}

void draw(const Settings& s, const std::vector<TargetStudy>& studies) {
  if (studies.empty()) return;
  Picture picture(s.common.out, "particles", s.common.panels);
  std::vector<std::string> names, parts;
  for (const TargetStudy& study : studies) {
    const double below = 0.15 * (static_cast<double>(parts.size()) - 2);
    const Table table = table_of(study, "method");
    std::vector<std::vector<double>> points;
    names.clear();
    for (const Row& row : table.rows()) {
      const auto [kept, se] = row.figures[1];  // variance_ratio
      const double y = static_cast<double>(names.size()) + below, bar = se > 0 ? se : 0;
      names.push_back(row.method);
      if (std::isfinite(kept)) points.push_back({kept, y, kept - bar, kept + bar});
    }
    parts.push_back(with_intervals(picture.data(study.target.name, points), "1:2:3:4",
                                   kind(parts.size()), study.target.title));
  }
  picture.panel(
      {200, 90, 720, 360}, "",
      join("set xlabel 'variance of the particles / of the target'\nset ytics ",
           named_places(names), "\nset yrange [", names.size(), "-0.5:-0.5]\nset key ",
           "at graph 0.4, graph 0.7\nset arrow from 1, graph 0 to 1, graph 1 nohead lw 2 ",
           "lc rgb '", grey, "'\nplot [-0.1:] ", listed(parts), "\n"));
  picture.draw_slide("Alone they keep no variance, repelled most, and chains all of it",
                     join(settings_line(s), ", ", s.seeds, " seeds, ± standard error"));
}

}  // namespace ladon::example
