// Cholesky factors and triangular systems, at each level of the instruction set.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ladon/core/linalg/cholesky.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::kernels_cholesky_test {
namespace {

using std::int64_t;

/// A matrix with rows `gap` elements apart, between which there is NaN.
template <class T>
struct Rows {
  int64_t count, columns, stride;
  std::vector<T> values;

  Rows(int64_t m, int64_t n, int64_t gap = 0)
      : count(m),
        columns(n),
        stride(n + gap),
        values(static_cast<std::size_t>(m * (n + gap)), std::numeric_limits<T>::quiet_NaN()) {}
  T& operator()(int64_t i, int64_t j) { return values[static_cast<std::size_t>(i * stride + j)]; }
  double operator()(int64_t i, int64_t j) const {
    return double{values[static_cast<std::size_t>(i * stride + j)]};
  }
  blas::Matrix<T> view() { return {values.data(), stride, 1}; }
};

template <class T>
Rows<T> draw(int64_t m, int64_t n, int64_t gap, std::uint64_t seed) {
  Generator rng(seed);
  const std::vector<double> x = normal({m, n}, rng, 0, 1, f64).to_vector();
  Rows<T> y(m, n, gap);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      y(i, j) = static_cast<T>(x[static_cast<std::size_t>(i * n + j)]);
  return y;
}

/// exp(−(i − j)²/100) + ridge on the diagonal: its condition is about 25/ridge.
template <class T>
Rows<T> smooth_kernel(int64_t n, double ridge) {
  Rows<T> a(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const double d = static_cast<double>(i - j);
      a(i, j) = j > i ? T(0) : static_cast<T>(std::exp(-d * d / 100) + (i == j ? ridge : 0));
    }
  return a;
}

/// Bound on the error of a sum of n products whose magnitudes add up to `size`.
template <class T>
double rounding(int64_t n, double size) {
  using Limits = std::numeric_limits<T>;
  return static_cast<double>(n + 4) * (double{Limits::epsilon()} * size + Limits::denorm_min());
}

template <class T>
class KernelsCholesky : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsCholesky, Reals);

// |A − L·Lᵀ| ≤ (n + 4)·ε·|L|·|L|ᵀ for every element (Higham 2002, theorem 10.3), however badly
// conditioned A is.
TYPED_TEST(KernelsCholesky, MultipliesBackWithinTheBoundOfItsSums) {
  using T = TypeParam;
  for (const int64_t n : {1, 2, 5, 8, 17, 63, 128, 129, 200, 300, 397}) {
    const Rows<T> a = smooth_kernel<T>(n, sizeof(T) == 4 ? 1e-3 : 1e-9);
    Rows<T> l = a;
    ASSERT_EQ(lapack::factor_in_place(n, l.values.data()), 0) << n;
    const Rows<T>& factor = l;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        if (j > i) {
          ASSERT_EQ(factor(i, j), 0) << n << " at " << i << ", " << j;
          continue;
        }
        double sum = 0, size = 0;
        for (int64_t p = 0; p <= j; ++p) {
          sum += factor(i, p) * factor(j, p);
          size += std::abs(factor(i, p) * factor(j, p));
        }
        const double bound = rounding<T>(j, size);
        ASSERT_NEAR(sum, a(i, j), bound) << n << " at " << i << ", " << j;
      }
  }
}

TYPED_TEST(KernelsCholesky, NamesTheFirstMinorThatIsNotPositive) {
  using T = TypeParam;
  for (const int64_t n : {1, 9, 130, 300})
    for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
      for (const T bad : {T(0), T(-1), std::numeric_limits<T>::quiet_NaN()}) {
        Rows<T> a(n, n);
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j) a(i, j) = i == j ? T(2) : T(0);
        a(at, at) = bad;
        EXPECT_EQ(lapack::factor_in_place(n, a.values.data()), at + 1) << n;
      }
    }
}

// |B − L·X| ≤ (n + 4)·ε·|L|·|X| (Higham 2002, theorem 8.5), for few columns and for many, with NaN
// above the diagonal of L and between the rows of X, where nothing is read or written.
TYPED_TEST(KernelsCholesky, SolvesWithinTheBoundOfItsSums) {
  using T = TypeParam;
  for (const int64_t n : {1, 3, 70, 256, 300, 530})
    for (const int64_t k : {1, 2, 5, 16, 17, 33, 70}) {
      Rows<T> l = smooth_kernel<T>(n, sizeof(T) == 4 ? 1e-3 : 1e-9);
      ASSERT_EQ(lapack::factor_in_place(n, l.values.data()), 0);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i + 1; j < n; ++j) l(i, j) = std::numeric_limits<T>::quiet_NaN();
      const Rows<T>& factor = l;
      for (const bool transposed : {false, true}) {
        const Rows<T> b = draw<T>(n, k, 3, 5);
        Rows<T> x = b;
        lapack::solve_in_place<T>(n, k, {l.values.data(), n, 1}, transposed, x.view());
        const Rows<T>& solved = x;
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < k; ++j) {
            double sum = 0, size = 0;
            for (int64_t p = transposed ? i : 0; p < (transposed ? n : i + 1); ++p) {
              const double term = (transposed ? factor(p, i) : factor(i, p)) * solved(p, j);
              sum += term;
              size += std::abs(term);
            }
            const double bound = rounding<T>(n, size);
            ASSERT_NEAR(sum, b(i, j), bound) << n << " x " << k << " at " << i << ", " << j;
          }
          for (int64_t j = k; j < k + 3 && i + 1 < n; ++j) ASSERT_TRUE(std::isnan(solved(i, j)));
        }
      }
    }
}

TEST(KernelsCholeskyThreads, HaveTheBitsOfOneThreadOnMany) {
  const int before = num_threads();
  const int64_t n = 700;
  std::vector<std::vector<double>> factors, few, many;
  for (const int threads : {1, 2, 3, 16}) {
    set_num_threads(threads);
    Rows<double> l = smooth_kernel<double>(n, 1e-3);
    ASSERT_EQ(lapack::factor_in_place(n, l.values.data()), 0);
    factors.push_back(l.values);
    for (const int64_t k : {3, 150}) {
      Rows<double> x = draw<double>(n, k, 0, 6);
      for (const bool transposed : {false, true})
        lapack::solve_in_place<double>(n, k, {l.values.data(), n, 1}, transposed, x.view());
      (k == 3 ? few : many).push_back(x.values);
    }
  }
  set_num_threads(before);
  for (std::size_t i = 1; i < factors.size(); ++i) {
    EXPECT_EQ(factors[i], factors[0]);
    EXPECT_EQ(few[i], few[0]);
    EXPECT_EQ(many[i], many[0]);
  }
}

}  // namespace
}  // namespace ladon::kernels_cholesky_test
