#pragma once
// Densities in the plane, each with one difficulty, and their exact moments.

#include <algorithm>
#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon::example {

struct Window {
  double left, right, bottom, top;
};
/// Centres of the cells of a window, x fastest: [across·up, 2].
Tensor grid(const Window& window, std::int64_t across, std::int64_t up);

struct PlaneTarget {
  std::string name, title;    ///< Such as "modes", and "two modes".
  LogDensity density;         ///< Takes points [M, 2].
  Window all;                 ///< Less than a millionth of the probability is outside.
  std::vector<double> start;  ///< Initial centre of the particles, beside the density's bulk.
  Window shown = {-4.2, 4.2, -3.4, 3.4};  ///< Window of pictures, equal in size for all.
  bool modes = false;                     ///< Whether it has two modes; the right one has x > 0.
};

/// Names of all targets: "gaussian", "modes", "ring", "banana", "funnel".
std::vector<std::string> target_names();
/// The target with this name; `apart` is the distance of the two modes.
PlaneTarget plane_target(const std::string& name, double apart);

/// Index of a name in a list of names.
inline std::size_t place_of(const std::string& name, const std::vector<std::string>& names) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

/// Moments of a distribution, or of points that represent it.
struct Moments {
  Tensor mean, variance;  ///< [2]
  double total_variance;
  double right_mode;  ///< Probability of the right mode; NaN without modes.
};

/// Moments of points [n, 2] with weights [n, 1] that sum to 1.
Moments moments_of(const Tensor& points, const Tensor& weights, const PlaneTarget& target);

class Truth {
 public:
  /// Computes the moments as sums over a fine grid of `target.all`. For a smooth density they are
  /// accurate once the spacing is below its narrowest width: errors fall as
  /// exp(−2π²(width/spacing)²).
  explicit Truth(const PlaneTarget& target);

  const Moments& moments() const { return moments_; }
  /// ln p at the borders of the smallest regions with 50, 80 and 95% of the probability.
  const std::vector<double>& levels() const { return levels_; }
  /// Independent draws [count, 2]: a random grid cell by probability, and a uniform point in it.
  Tensor draws(std::int64_t count, Generator& rng) const;

 private:
  Moments moments_;
  std::vector<double> levels_;
  Tensor points_;
  double cell_[2];                  ///< Width and height of a cell.
  std::vector<double> cumulative_;  ///< Cumulative masses of the points.
};

}  // namespace ladon::example
