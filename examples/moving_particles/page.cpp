#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/many_dimensions/collapse.h"
#include "ladon/examples/moving_particles/study.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

/// A target for the page: starting point, true moments, and contours as segments between points.
Json target_json(const TargetStudy& study) {
  const PlaneTarget& target = study.target;
  const Moments& truth = study.truth.moments();
  Json contours = Json::array();
  for (const double level : study.truth.levels()) {
    std::vector<double> ends;
    for (const Point& p : contour(target, level)) ends.insert(ends.end(), {p.x, p.y});
    contours.push_back(rounded(ends));
  }
  const Window& w = target.shown;
  return {{"title", target.title},
          {"start", target.start},
          {"window", {w.left, w.right, w.bottom, w.top}},
          {"mean", contiguous(truth.mean).to_vector()},
          {"variance", truth.total_variance},
          {"right", target.modes ? Json(truth.right_mode) : Json()},
          {"contours", contours}};
}

}  // namespace

Page page(const Settings& s, const std::vector<TargetStudy>& studies) {
  Json targets = Json::object(), checks = Json::array(), kept = Json::object();
  for (const TargetStudy& study : studies) {
    targets[study.target.name] = target_json(study);
    add_checks(s, study, checks);
  }
  const CollapseSettings few{.common = s.common};
  Table collapse = collapse_table(few);
  Progress progress(static_cast<double>(few.dimensions.size()));
  run_collapse(few, collapse, progress);
  for (std::size_t column = 0; column < collapse.columns().size(); ++column) {
    std::vector<double> values;
    for (const Row& row : collapse.rows()) values.push_back(row.figures[column].value);
    kept[collapse.columns()[column].name] = rounded(values);
  }
  for (std::size_t i = 0; i < collapse.rows().size(); ++i)
    if (const auto& figures = collapse.rows()[i].figures; std::isfinite(figures[1].value))
      checks.push_back(
          checked("law", {few.alpha, few.particles, few.dimensions[i]}, figures[0].value));
  return {
      .title = "Repulsion spreads particles over the plane, and hardly in many dimensions",
      .about = join(
          s.particles,
          " particles start at one side of a density, and should end as if they were drawn from "
          "it. Choose the density and the method that moves them, then play, or step. Two "
          "particles at distance d share gradients and repel each other by exp(−d²/(2h²)), where "
          "the median rule takes h² = ½·median(d²)/ln(M + 1) for M particles, and α is the "
          "weight of repulsion. Last drawing: ",
          few.particles,
          " particles on a normal distribution in D dimensions, whose variance per "
          "coordinate is 1, by svgd or, where it is chosen, spos. How much of the "
          "variance do they keep?"),
      .script = page_script,
      .data = {{"targets", targets},
               {"particles", s.particles},
               {"rate", s.rate},
               {"apart", s.apart},
               {"few", few.particles},
               {"alpha", few.alpha},
               {"dimensions", few.dimensions},
               {"kept", kept},
               {"checks", checks}}};
}

}  // namespace ladon::example
