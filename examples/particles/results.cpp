#include "ladon/examples/particles/results.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

std::vector<Column> columns() {
  return {
      {"mean_error",
       "distance of the particles' mean from the target's, in its standard deviations; mean over "
       "seeds ± standard error, as all that follows; of independent draws the error that a mean "
       "over as many sets of them would have",
       Better::lower},
      {"variance_ratio",
       "the particles' total variance over the target's: 1 where it is right, 0 where all sit at "
       "one place"},
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
}

/// Means over the runs, of which one that diverged makes the row a diverged one.
Row row_of(const std::string& name, const std::vector<Outcome>& runs) {
  Row row{name, {}, std::any_of(runs.begin(), runs.end(), [](const Outcome& o) {
            return o.diverged_at != 0;
          })};
  const auto add = [&](const auto& figure) {
    std::vector<double> values;
    for (const Outcome& o : runs) values.push_back(figure(o));
    row.figures.push_back(estimate(values));
  };
  const auto figures = {&Figures::mean_error, &Figures::variance_ratio, &Figures::inner_half,
                        &Figures::mode_mass};
  for (double Figures::*figure : figures) add([=](const Outcome& o) { return o.end.*figure; });
  add([](const Outcome& o) { return o.ksd; });
  for (double Figures::*figure :
       {&Figures::mean_error, &Figures::variance_ratio, &Figures::mode_mass})
    add([=](const Outcome& o) { return o.pooled.*figure; });
  return row;
}

/// What chance alone gives: the mean over many sets of draws, and the standard error that a mean
/// over as many sets as there are seeds would have.
Row chance_row(const std::string& name, const std::vector<Outcome>& sets, std::size_t seeds) {
  Row row = row_of(name, sets);
  for (Measured& figure : row.figures)
    figure.se *=
        seeds > 1 ? std::sqrt(static_cast<double>(sets.size()) / static_cast<double>(seeds)) : NAN;
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
  const std::vector<double> values = places.to_vector<double>();
  for (std::size_t i = 0; i < values.size(); i += 2) rows.push_back({values[i], values[i + 1]});
  return rows;
}

nlohmann::ordered_json as_json(const TargetStudy& study, const Outcome& o, bool course) {
  nlohmann::ordered_json run{{"target", study.target.name}, {"method", o.method}, {"seed", o.seed}};
  run.update(as_json(o.end));
  run["ksd"] = o.ksd;
  run["pooled"] = as_json(o.pooled);
  if (o.diverged_at != 0) run["diverged_at"] = o.diverged_at;
  if (o.diverged_at == 0 && !o.frames.empty()) run["places"] = as_json(o.frames.back().places);
  for (const Frame& frame : o.frames)
    if (course && o.diverged_at == 0)
      run["frames"].push_back({{"step", frame.step}, {"places", as_json(frame.places)}});
  return run;
}

}  // namespace

Table table_of(const TargetStudy& study, bool with_target) {
  Table table(with_target ? "method" : study.target.name, columns());
  const std::string before = with_target ? study.target.name + ", " : "";
  for (const std::vector<Outcome>& runs : study.runs)
    table.add(row_of(before + runs.front().method, runs));
  table.add(chance_row(before + study.independent.front().method, study.independent,
                       study.runs.front().size()));
  return table;
}

Table collapse_table(const Settings& s, const std::vector<Remaining>& all) {
  const std::string m = std::to_string(s.collapse_particles);
  Table table(
      "dimension",
      {{"svgd", join("variance per coordinate that ", m,
                     " particles keep of N(0, 1) in D dimensions, median rule; the target's is 1")},
       {"law", "α·ln(M + 1)(M - 1)/(M·D), where the particles are a regular simplex: D ≥ M - 1"},
       {"automatic", "the same with --alpha auto: α follows from the particles at every step"},
       {"per_coordinate",
        "the same with a kernel of its own for each coordinate, which has no dimension to collapse "
        "in; up to 100"}});
  for (const Remaining& r : all)
    table.add({join("D = ", r.dim), {{r.svgd}, {r.law}, {r.automatic}, {r.per_coordinate}}});
  return table;
}

nlohmann::ordered_json details(const Settings& s, const std::vector<TargetStudy>& studies) {
  nlohmann::ordered_json truth, runs = nlohmann::ordered_json::array();
  for (const TargetStudy& study : studies) {
    const Moments& m = study.truth.moments();
    truth[study.target.name] = {{"mean", {m.mean_x, m.mean_y}},
                                {"variance", {m.variance_x, m.variance_y}},
                                {"mode_mass", m.second_mode},
                                {"h2", m.total_variance()}};
    const std::uint64_t shown = typical_runs(study).front().seed;
    for (const std::vector<Outcome>& of_seeds : study.runs)
      for (const Outcome& o : of_seeds)
        runs.push_back(as_json(study, o, study.target.name == s.course && o.seed == shown));
  }
  return {{"truth", truth}, {"runs", runs}};
}

}  // namespace ladon::example
