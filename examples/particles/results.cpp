#include "ladon/examples/particles/results.h"

#include <nlohmann/json.hpp>

#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

std::vector<Column> columns() {
  return {
      {"mean_error",
       "distance of the particles' mean from the target's, in its standard deviations",
       Better::lower},
      {"variance_ratio",
       "the particles' total variance over the target's: 1 where it is right, 0 where all sit at "
       "one place"},
      {"inner_half",
       "share of particles in the smallest region that holds half of the probability: 0.5 where "
       "it is right, 1 where they crowd at modes"},
      {"mode_mass", "share of particles at the right one of two modes: 0.5 where it is right"},
      {"ksd",
       "kernelized Stein discrepancy (V-statistic, its root; inverse multiquadric, h² the "
       "target's total variance for all methods): 0 would be the target",
       Better::lower},
      {"pooled_mean_error", "as mean_error, of all places in the second half of the run",
       Better::lower},
      {"pooled_variance_ratio", "as variance_ratio, of the same"},
      {"pooled_mode_mass", "as mode_mass, of the same"}};
}

Row row_of(const std::string& name, const Outcome& o) {
  return {name,
          {{o.end.mean_error},
           {o.end.variance_ratio},
           {o.end.inner_half},
           {o.end.mode_mass},
           {o.ksd},
           {o.pooled.mean_error},
           {o.pooled.variance_ratio},
           {o.pooled.mode_mass}},
          o.diverged_at != 0};
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
  nlohmann::ordered_json run{{"target", study.target.name}, {"method", o.method}};
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
  for (const Outcome& o : study.outcomes) table.add(row_of(before + o.method, o));
  table.add(row_of(before + study.independent.method, study.independent));
  return table;
}

Table collapse_table(const Settings& s, const std::vector<Remaining>& all) {
  const std::string m = std::to_string(s.collapse_particles);
  Table table(
      "dimension",
      {{"svgd", join("variance a coordinate that ", m,
                     " particles keep of N(0, 1) in D dimensions, median rule; the target's is 1")},
       {"law", "α·ln(M + 1)(M - 1)/(M·D), where the particles are a regular simplex: D ≥ M - 1"},
       {"automatic", "the same with --alpha auto: α follows from the particles at every step"},
       {"per_coordinate",
        "the same with a kernel of its own for each coordinate, which has no dimension to "
        "collapse in; up to 100"}});
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
    for (const Outcome& o : study.outcomes)
      runs.push_back(as_json(study, o, study.target.name == s.course));
    runs.push_back(as_json(study, study.independent, false));
  }
  return {{"truth", truth}, {"runs", runs}};
}

}  // namespace ladon::example
