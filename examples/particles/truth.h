#pragma once
// The truth about a target in the plane, by sums over a fine grid.

#include <vector>

#include "ladon/core/random.h"
#include "ladon/examples/particles/targets.h"

namespace ladon::example {

/// Of a distribution, or of points that are to stand for it.
struct Moments {
  Tensor mean, variance;  ///< [2]
  double total_variance;
  double right_mode;  ///< Its share; NaN where the target has no modes.
};

/// Of points [n, 2] with weights [n, 1] that sum to 1.
Moments moments_of(const Tensor& points, const Tensor& weights, const PlaneTarget& target);

/// Lines in `target.shown` where ln p is `level`, by marching squares: pieces from every second
/// point to the next.
Line contour(const PlaneTarget& target, double level);

class Truth {
 public:
  /// Sums over `target.all`. For a smooth density they are exact as soon as the spacing is below
  /// its narrowest width: errors fall as exp(−2π²(width/spacing)²).
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
