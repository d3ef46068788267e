#pragma once
// Densities in the plane, each with one difficulty.

#include <optional>
#include <string>
#include <vector>

#include "ladon/optim/samplers/log_density.h"

namespace ladon::example {

struct Point {
  double x, y;
};

struct Window {
  double left, right, bottom, top;
};

struct PlaneTarget {
  std::string name;    ///< "modes"
  std::string title;   ///< "two modes"
  LogDensity density;  ///< Of [M, 2].
  Window shown;        ///< By pictures.
  Window all;          ///< Outside of it there is less than a millionth of the probability.
  Point start;         ///< Where particles begin: off to a side.
  /// Two modes: the second one is where x is larger than this.
  std::optional<double> divide = {};
};

/// "gaussian", "modes", "ring", "banana", "funnel"
std::vector<std::string> target_names();
/// One of these; the two modes are so far apart.
PlaneTarget plane_target(const std::string& name, double apart);

}  // namespace ladon::example
