#include "ladon/examples/particles/targets.h"

#include "ladon/autograd/ops.h"

namespace ladon::example {
namespace {

Tensor x_of(const Tensor& points) { return select(points, 1, 0); }
Tensor y_of(const Tensor& points) { return select(points, 1, 1); }

/// Log density −½ zᵀΣ⁻¹z at z = (x, y) of N(0, Σ) with variances 2 and 1 and correlation 0.85.
Tensor correlated(const Tensor& points) {
  constexpr double xx = 2, yy = 1, xy = 1.2, det = xx * yy - xy * xy;
  const Tensor x = x_of(points), y = y_of(points);
  return (yy * square(x) - 2 * xy * x * y + xx * square(y)) * (-0.5 / det);
}

/// Two round bumps of equal mass with standard deviation 0.6.
Tensor bumps(const Tensor& points, double apart) {
  const Tensor x = x_of(points), y2 = square(y_of(points));
  const Tensor left = square(x + apart / 2) + y2, right = square(x - apart / 2) + y2;
  return logsumexp(stack({left, right}, 1) * (-0.5 / 0.36), {1});
}

/// The distance from the origin is approximately N(2, 0.35²).
Tensor circle(const Tensor& points) { return square(norm(points, {1}) - 2) * (-0.5 / 0.1225); }

/// x ~ N(0, 1.2²), y | x ~ N(½x² − 1, 0.5²).
Tensor bent(const Tensor& points) {
  const Tensor x = x_of(points), y = y_of(points);
  return square(x) * (-0.5 / 1.44) + square(y - 0.5 * square(x) + 1) * (-0.5 / 0.25);
}

/// x ~ N(0, 1.2²), y | x ~ N(0, eˣ): the funnel of Neal (2003) in the plane.
Tensor narrowing(const Tensor& points) {
  const Tensor x = x_of(points), y = y_of(points);
  return square(x) * (-0.5 / 1.44) - 0.5 * x - 0.5 * square(y) * exp(-x);
}

std::vector<PlaneTarget> all_targets(double apart) {
  const auto modes = [apart](const Tensor& points) { return bumps(points, apart); };
  PlaneTarget two{"modes", "two modes", {2, modes}, {-5 - apart, 5 + apart, -4, 4}, {-3.2, 2.2}};
  two.modes = true;
  PlaneTarget banana{"banana", "banana", {2, bent}, {-8, 8, -5, 36}, {-3.5, 0}};
  banana.shown = {-4.2, 4.2, -2.6, 4.2};
  return {{"gaussian", "Gaussian", {2, correlated}, {-9, 9, -7, 7}, {-3.2, 2.2}},
          two,
          {"ring", "ring", {2, circle}, {-5, 5, -5, 5}, {-3.4, 1.8}},
          banana,
          {"funnel", "funnel", {2, narrowing}, {-8, 8, -80, 80}, {3.2, 2.2}}};
}

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const PlaneTarget& target : all_targets(1)) names.push_back(target.name);
  return names;
}

PlaneTarget plane_target(const std::string& name, double apart) {
  return all_targets(apart).at(place_of(name, target_names()));
}

}  // namespace ladon::example
