#pragma once
// Densities in the plane, each with one difficulty.

#include <algorithm>
#include <string>
#include <vector>

#include "ladon/optim/samplers/log_density.h"

namespace ladon::example {

struct Point {
  double x, y;
};

using Line = std::vector<Point>;
/// The rows of [n, 2].
Line points_of(const Tensor& places);

struct Window {
  double left, right, bottom, top;
};

struct PlaneTarget {
  std::string name, title;  ///< "modes", "two modes"
  LogDensity density;       ///< Of [M, 2].
  Window all;               ///< Outside of it there is less than a millionth of the probability.
  Point start;              ///< Start of the particles: off to a side.
  Window shown = {-4.2, 4.2, -3.4, 3.4};  ///< By pictures, which have this size in common.
  bool modes = false;                     ///< Two of them; the right one is where x > 0.
};

/// "gaussian", "modes", "ring", "banana", "funnel"
std::vector<std::string> target_names();
/// One of these; the two modes are so far apart.
PlaneTarget plane_target(const std::string& name, double apart);

/// The place of a name in such a list.
inline std::size_t place_of(const std::string& name, const std::vector<std::string>& names) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

}  // namespace ladon::example
