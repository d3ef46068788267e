// Gaussian elimination of small matrices, compared with LAPACK.

#include "ladon/core/linalg/elimination.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/core/view.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::elimination_test {
namespace {

using layout::element;
using layout::same_bits;

/// Σ_j |a_ij·x_jc − b_ic| relative to what rounding of its terms explains.
double residual(const Tensor& a, const Tensor& x, const Tensor& b, double epsilon) {
  double worst = 0;
  const std::int64_t n = a.size(1), k = b.size(2);
  const auto at = [](const Tensor& y, std::int64_t m, std::int64_t i, std::int64_t j) {
    return element(y, (m * y.size(1) + i) * y.size(2) + j);
  };
  for (std::int64_t m = 0; m < a.size(0); ++m)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < k; ++c) {
        double sum = -at(b, m, i, c), size = std::abs(sum);
        for (std::int64_t j = 0; j < n; ++j) {
          sum += at(a, m, i, j) * at(x, m, j, c);
          size += std::abs(at(a, m, i, j) * at(x, m, j, c));
        }
        worst = std::max(worst, std::abs(sum) / (size * epsilon));
      }
  return worst;
}

TEST(Elimination, SolvesToRounding) {
  Generator rng(3);
  for (const DType dtype : {f32, f64})
    for (const std::int64_t n : {1, 2, 3, 7, 8, 16, 24})
      for (const std::int64_t k : {1, 5, 8}) {
        const Tensor a = normal({20, n, n}, rng, 0, 1, dtype),
                     b = normal({20, n, k}, rng, 0, 1, dtype);
        const double epsilon = dtype == f32 ? std::numeric_limits<float>::epsilon()
                                            : std::numeric_limits<double>::epsilon();
        const Tensor x = elimination::solve(a, b);
        ASSERT_TRUE(x.defined());
        // With pivots the growth of elements is small in practice: n, say.
        EXPECT_LE(residual(a, x, b, epsilon), 4.0 * static_cast<double>(n)) << dtype << ' ' << n;
      }
}

TEST(Elimination, ExchangesRows) {
  const Tensor a = tensor({0, 2, 0, 0, 0, 4, 8, 0, 0}, {1, 3, 3}, f64);
  const Tensor x = elimination::solve(a, tensor({2, 4, 8}, {1, 3, 1}, f64));
  EXPECT_EQ(x.to_vector(), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(elimination::pivots(a).to_vector(), (std::vector<double>{8, 2, 4, 1}));
}

// The product of the pivots is LAPACK's, also of a singular matrix.
TEST(Elimination, PivotsGiveTheDeterminant) {
  Generator rng(4);
  const Tensor a = normal({6, 6}, rng, 0, 1, f64);
  const lapack::Lu lu = lapack::lu(a);
  double want = 1;
  for (std::int64_t i = 0; i < 6; ++i)
    want *= element(lu.factors, i * 7) * (element(lu.swaps, i) == double(i) ? 1 : -1);
  double got = 1;
  for (const double y : elimination::pivots(view::unsqueeze(a, 0)).to_vector()) got *= y;
  EXPECT_NEAR(got, want, 1e-13 * std::abs(want));
  const Tensor singular = tensor({1, 2, 2, 4}, {1, 2, 2}, f64);
  EXPECT_EQ(elimination::pivots(singular).to_vector()[1], 0);
  EXPECT_FALSE(elimination::solve(singular, ones({1, 2, 1}, f64)).defined());
}

TEST(Elimination, LeavesWhatIsNotFiniteToLapack) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor a = tensor({1, 2, inf, 4}, {1, 2, 2}, f64),
               unit = tensor({1, 0, 0, 1}, {1, 2, 2}, f64);
  EXPECT_FALSE(elimination::pivots(a).defined());
  EXPECT_FALSE(elimination::solve(a, unit).defined());
  EXPECT_FALSE(elimination::solve(unit, a).defined());
}

TEST(Elimination, IsTheSameAtAnyNumberOfThreads) {
  Generator rng(5);
  const Tensor a = normal({5000, 8, 8}, rng), b = normal({5000, 8, 3}, rng);
  const int before = num_threads();
  set_num_threads(1);
  const Tensor x = elimination::solve(a, b), p = elimination::pivots(a);
  for (const int threads : {2, 3, 16}) {
    set_num_threads(threads);
    EXPECT_TRUE(same_bits(elimination::solve(a, b), x));
    EXPECT_TRUE(same_bits(elimination::pivots(a), p));
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace ladon::elimination_test
