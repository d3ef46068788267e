#pragma once
// The truth about a target in the plane, by sums over a fine grid.

#include <vector>

#include "ladon/core/random.h"
#include "ladon/examples/particles/targets.h"

namespace ladon::example {

/// Of a distribution, or of points that are to stand for it.
struct Moments {
  double mean_x = 0, mean_y = 0;
  double variance_x = 0, variance_y = 0;
  double second_mode = 0;  ///< The share of it; NaN where the target has no modes.

  double total_variance() const { return variance_x + variance_y; }
};

/// Of points [n, 2]; variances are divided by n.
Moments moments_of(const Tensor& points, const PlaneTarget& target);

class Quadrature {
 public:
  /// Sums over `target.all`. For a smooth density they are exact as soon as the spacing is below
  /// its narrowest width: errors fall as exp(−2π²(width/spacing)²).
  explicit Quadrature(const PlaneTarget& target);

  const Moments& moments() const { return moments_; }
  /// ln p on the border of the smallest region that has this share of the probability.
  double level(double share) const;
  /// Independent draws [count, 2]: a grid point by its mass, and a place in its cell.
  Tensor draws(std::int64_t count, Generator& rng) const;

 private:
  Window all_;
  std::vector<double> cumulative_;  ///< Masses of the cells, row by row, x fastest, summed up.
  std::vector<double> sorted_;      ///< ln p of the cells, the largest first.
  Moments moments_;
};

/// ln p at the points of a grid over the window, columns·rows of them, x fastest.
std::vector<double> log_density_on(const LogDensity& density, const Window& window,
                                   std::int64_t columns, std::int64_t rows);

}  // namespace ladon::example
