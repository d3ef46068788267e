#pragma once
// The inverse of erf, for normal quantiles: Φ⁻¹(p) = √2·erf⁻¹(2p − 1).

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ladon::kernels {

/// The inverse of erf on (−1, 1): Winitzki's approximation (2008), relative error 2e-3, then two
/// steps of Halley's method, each of which cubes the error.
inline double inverse_erf(double y) {
  constexpr double a = 0.147;
  const double l = std::log1p(-y * y);
  const double c = 2 / (std::numbers::pi * a) + l / 2;
  double x = std::copysign(std::sqrt(std::max(0.0, std::sqrt(c * c - l / a) - c)), y);
  for (int i = 0; i < 2; ++i) {
    // f = erf(x) − y has f''/f' = −2x, so Halley's step f/(f' − f f''/(2f')) is d/(1 + x d) with
    // d = f/f'.
    const double d = (std::erf(x) - y) * std::exp(x * x) / (2 * std::numbers::inv_sqrtpi);
    x -= d / (1 + x * d);
  }
  return x;
}

}  // namespace ladon::kernels
