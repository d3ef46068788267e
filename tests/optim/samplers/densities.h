#pragma once
// Densities for tests of samplers, and expectations on the draws.

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/optim/optim.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test {

/// Coordinate d of every draw: [C, S, D] → [C, S], for C chains of S draws.
inline Tensor number(const Tensor& draws, std::int64_t d) { return select(draws, 2, d); }

/// Expects that the chains agree: R̂ < 1.01 for every coordinate.
inline void expect_converged(const Tensor& draws) {
  EXPECT_LT(amax(split_rhat(draws)).item(), 1.01) << "R̂ of some number";
}

/// Expects the mean over draws [C, S] to within `errors` Monte Carlo standard errors. The default 4
/// fails once in 16,000 checks by chance; use 5 if 20 means are checked at once (once in 90,000).
inline void expect_mean(const Tensor& draws, double expected, double errors = 4) {
  const Measured found = chain_mean(draws);
  EXPECT_LT(std::abs(found.value - expected), errors * found.se)
      << found.value << " ± " << found.se << ", not " << expected;
}

/// N(μ, Σ) with μ_i = i and Σ_ij = σ_i σ_j ρ^|i−j|, σ_i = 2^(i/2 − 2), ρ = 0.8. The inverse of the
/// correlation matrix is tridiagonal: 1/(1−ρ²) times 1 + ρ² on the diagonal (1 at its two ends) and
/// −ρ next to the diagonal.
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

/// Density with ln p = −2 ln cosh x + x/2 for each coordinate. Its score is bounded, so that
/// samplers move even with large steps.
inline LogDensity tilted_logistic(std::int64_t dim = 1) {
  return LogDensity(dim, [](const Tensor& x) {
    return sum(0.5 * x - 2.0 * (x + softplus(-2.0 * x)), 1);  // ln 2cosh x = x + ln(1 + e^−2x)
  });
}
/// E f(x) under tilted_logistic(), by the trapezoidal rule, which is exact to double precision
/// here.
inline double tilted_logistic_mean(const std::function<double(double)>& f) {
  double sum = 0, mass = 0;
  for (double x = -30; x < 40; x += 0.01) {
    const double p = std::exp(0.5 * x) / (std::cosh(x) * std::cosh(x));
    sum += f(x) * p;
    mass += p;
  }
  return sum / mass;
}

/// Expects the moments of tilted_logistic(), computed by quadrature, of the first coordinate of
/// draws.
inline void expect_tilted_logistic(const Tensor& draws) {
  const Tensor x = number(draws, 0);
  expect_converged(draws);
  expect_mean(x, tilted_logistic_mean([](double v) { return v; }));
  expect_mean(square(x), tilted_logistic_mean([](double v) { return v * v; }));
  expect_mean(cos(3.0 * x), tilted_logistic_mean([](double v) { return std::cos(3 * v); }));
}

/// Expects the means and variances of Correlated, to within 5 standard errors, since there are
/// about 20.
inline void expect_correlated(const Tensor& draws) {
  expect_converged(draws);
  for (std::int64_t d = 0; d < draws.size(2); ++d) {
    const Tensor x = number(draws, d) - double(d);
    expect_mean(x, 0, 5);
    expect_mean(square(x), std::pow(Correlated::sigma(d), 2), 5);
  }
}

/// Starting points of chains [chains, dim], drawn from N(0, 1).
inline Tensor scattered(std::int64_t chains, std::int64_t dim, std::uint64_t seed = 1) {
  return gaussian({chains, dim}, seed);
}

/// N(0, 1) truncated to (−1.5, 1.5); ln p is NaN outside, where no draw may be.
inline LogDensity between_walls() {
  return LogDensity(1, [](const Tensor& x) {
    const Tensor v = select(x, 1, 0);
    return where(less(abs(v), 1.5), -0.5 * square(v), scalar(std::nan(""), f64));
  });
}

}  // namespace ladon::test
