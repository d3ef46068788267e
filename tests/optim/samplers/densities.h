#pragma once
// Densities that samplers are tried on, and what is asked of their draws.

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/optim/optim.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test {

/// Number d of every draw [C, S, D] → [C, S].
inline Tensor number(const Tensor& draws, std::int64_t d) { return select(draws, 2, d); }

/// Whether all chains tell the same, of every number.
inline void expect_converged(const Tensor& draws) {
  EXPECT_LT(amax(split_rhat(draws)).item(), 1.01) << "R̂ of some number";
}

/// The mean of a number over draws [C, S], to within so many Monte Carlo standard errors. 4: once
/// in 16,000; of 20 figures at once, 5 (once in 90,000).
inline void expect_mean(const Tensor& draws, double expected, double errors = 4) {
  const Measured found = chain_mean(draws);
  EXPECT_LT(std::abs(found.value - expected), errors * found.se)
      << found.value << " ± " << found.se << ", not " << expected;
}

/// N(μ, Σ) with μ_i = i and Σ_ij = σ_i σ_j ρ^|i−j|, σ_i = 2^(i/2 − 2), ρ = 0.8. The inverse of the
/// correlations is tridiagonal: 1/(1−ρ²) times 1 + ρ² on the diagonal (1 in its corners), −ρ beside
/// it.
struct Correlated {
  static constexpr double rho = 0.8;
  explicit Correlated(std::int64_t dim)
      : mean(arange(0, dim, 1, f64)), precision(zeros({dim, dim}, f64)) {
    double* p = precision.mutable_data<double>();
    for (std::int64_t i = 0; i < dim; ++i)
      for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j < std::min(i + 2, dim); ++j) {
        const bool corner = i == 0 || i == dim - 1;
        const double entry = i != j ? -rho : corner ? 1 : 1 + rho * rho;
        p[i * dim + j] = entry / ((1 - rho * rho) * sigma(i) * sigma(j));
      }
  }
  static double sigma(std::int64_t i) { return std::exp2(0.5 * double(i) - 2); }
  LogDensity density() const {
    return LogDensity::of_scores(mean.count(), [*this](const Tensor& theta) {
      const Tensor x = theta - mean, slope = matmul(x, precision);
      return DensityScore{-0.5 * sum(x * slope, 1), -slope};
    });
  }
  Tensor mean, precision;  // [D], [D, D]
};

/// ln p = −2 ln cosh x + x/2 of each number: slopes are bounded, so that no step is too coarse to
/// move.
inline LogDensity tilted_logistic(std::int64_t dim = 1) {
  return LogDensity(dim, [](const Tensor& x) {
    return sum(0.5 * x - 2.0 * (x + softplus(-2.0 * x)), 1);  // ln 2cosh x = x + ln(1 + e^−2x)
  });
}
/// E f(x) under it, by the trapezoid rule, which is exact here to all digits.
inline double tilted_logistic_mean(const std::function<double(double)>& f) {
  double sum = 0, mass = 0;
  for (double x = -30; x < 40; x += 0.01) {
    const double p = std::exp(0.5 * x) / (std::cosh(x) * std::cosh(x));
    sum += f(x) * p;
    mass += p;
  }
  return sum / mass;
}

/// Moments of chains on tilted_logistic, against quadrature.
inline void expect_tilted_logistic(const Tensor& draws) {
  const Tensor x = number(draws, 0);
  expect_converged(draws);
  expect_mean(x, tilted_logistic_mean([](double v) { return v; }));
  expect_mean(square(x), tilted_logistic_mean([](double v) { return v * v; }));
  expect_mean(cos(3.0 * x), tilted_logistic_mean([](double v) { return std::cos(3 * v); }));
}

/// Mean (and variances, 5 errors: 20 figures) of draws of a Correlated.
inline void expect_correlated(const Tensor& draws) {
  expect_converged(draws);
  for (std::int64_t d = 0; d < draws.size(2); ++d) {
    const Tensor x = number(draws, d) - double(d);
    expect_mean(x, 0, 5);
    expect_mean(square(x), std::pow(Correlated::sigma(d), 2), 5);
  }
}

/// Chains that start at N(0, 1).
inline Tensor scattered(std::int64_t chains, std::int64_t dim, std::uint64_t seed = 1) {
  return gaussian({chains, dim}, seed);
}

/// N(0, 1) on (−1.5, 1.5); ln p is NaN outside, where no draw may be.
inline LogDensity between_walls() {
  return LogDensity(1, [](const Tensor& x) {
    const Tensor v = select(x, 1, 0);
    return where(less(abs(v), 1.5), -0.5 * square(v), scalar(std::nan(""), f64));
  });
}

}  // namespace ladon::test
