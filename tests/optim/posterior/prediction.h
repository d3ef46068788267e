#pragma once
// Helpers of the tests of predictions: small kernels, and linear algebra in plain loops, without a
// Cholesky factorization.

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::test {

inline void expect_near(const Tensor& x, const Tensor& expected, double tolerance) {
  ASSERT_TRUE(x.shape() == expected.shape()) << x.shape() << " for " << expected.shape();
  const auto a = x.detach().to_vector(), b = expected.detach().to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << "element " << i;
}

inline bool finite(const Tensor& x) { return all(isfinite(x)).item() != 0; }

/// RBF kernel of unit length scale, exp(−½ ‖x_i − z_j‖²), between the rows of x and of z.
inline Tensor unit_rbf(const Tensor& x, const Tensor& z) {
  return exp(sum(square(unsqueeze(x, 1) - unsqueeze(z, 0)), 2) * -0.5);
}

/// A regression problem: kernels of n training and m test points in the plane, targets [n,
/// outputs].
struct Problem {
  Tensor train, cross, test, targets;

  Problem(std::int64_t n, std::int64_t m, std::int64_t outputs, std::uint64_t seed = 1) {
    Generator rng(seed);
    const Tensor x = normal({n, 2}, rng, 0, 2, f64), z = normal({m, 2}, rng, 0, 2, f64);
    train = unit_rbf(x, x);
    cross = unit_rbf(z, x);
    test = unit_rbf(z, z);
    targets = normal({n, outputs}, rng, 0, 1, f64);
  }
};

/// Inverse of a matrix and logarithm of its determinant, by Gauss–Jordan elimination with pivoting.
inline std::pair<Tensor, double> invert(const Tensor& matrix) {
  const auto n = static_cast<std::size_t>(matrix.size(0));
  std::vector<double> a = matrix.to_vector(), b = eye(matrix.size(0), f64).to_vector();
  double log_determinant = 0;
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t pivot = p;
    for (std::size_t i = p; i < n; ++i)
      if (std::abs(a[i * n + p]) > std::abs(a[pivot * n + p])) pivot = i;
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(a[p * n + j], a[pivot * n + j]);
      std::swap(b[p * n + j], b[pivot * n + j]);
    }
    const double d = a[p * n + p];
    log_determinant += std::log(std::abs(d));
    for (std::size_t j = 0; j < n; ++j) {
      a[p * n + j] /= d;
      b[p * n + j] /= d;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double f = a[i * n + p];
      if (i == p) continue;
      for (std::size_t j = 0; j < n; ++j) {
        a[i * n + j] -= f * a[p * n + j];
        b[i * n + j] -= f * b[p * n + j];
      }
    }
  }
  return {from_vector(b, matrix.shape()), log_determinant};
}

/// x without row i and, if `columns_too`, without column i.
inline Tensor without(const Tensor& x, std::int64_t i, bool columns_too) {
  std::vector<std::int64_t> kept;
  for (std::int64_t j = 0; j < x.size(0); ++j)
    if (j != i) kept.push_back(j);
  const Tensor index = from_vector(kept, {x.size(0) - 1});
  const Tensor rows = index_select(x, 0, index);
  return columns_too ? index_select(rows, 1, index) : rows;
}

}  // namespace ladon::test
