#pragma once
// Densities in the plane, each with one difficulty, and the truth about them.

#include <algorithm>
#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon::example {

struct Window {
  double left, right, bottom, top;
};
/// The middles of cells in a window, x fastest: [across·up, 2].
Tensor grid(const Window& window, std::int64_t across, std::int64_t up);

struct PlaneTarget {
  std::string name, title;    ///< "modes", "two modes"
  LogDensity density;         ///< Of [M, 2].
  Window all;                 ///< Outside of it there is less than a millionth of the probability.
  std::vector<double> start;  ///< Middle of the particles at first: off to a side.
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

/// Of a distribution, or of points that are to stand for it.
struct Moments {
  Tensor mean, variance;  ///< [2]
  double total_variance;
  double right_mode;  ///< Its share; NaN where the target has no modes.
};

/// Of points [n, 2] with weights [n, 1] that sum to 1.
Moments moments_of(const Tensor& points, const Tensor& weights, const PlaneTarget& target);

class Truth {
 public:
  /// Sums over a fine grid of `target.all`. For a smooth density they are exact as soon as the
  /// spacing is below its narrowest width: errors fall as exp(−2π²(width/spacing)²).
  explicit Truth(const PlaneTarget& target);

  const Moments& moments() const { return moments_; }
  /// ln p on the borders of the smallest regions that hold 50, 80 and 95% of the probability.
  const std::vector<double>& levels() const { return levels_; }
  /// Independent draws [count, 2]: a grid point by its mass, and a place in its cell.
  Tensor draws(std::int64_t count, Generator& rng) const;

 private:
  Moments moments_;
  std::vector<double> levels_;
  Tensor points_;
  double cell_[2];                  ///< Width and height.
  std::vector<double> cumulative_;  ///< Masses of the points, summed up.
};

}  // namespace ladon::example
