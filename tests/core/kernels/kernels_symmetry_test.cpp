#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ladon/core/kernels/reductions/symmetry.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"

namespace ladon::kernels_symmetry_test {
namespace {

using std::int64_t;

Tensor symmetric(int64_t n) {
  Generator rng(3);
  Tensor x = uniform({n, n}, rng, -1, 1, f64);
  double* v = x.mutable_data<double>();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) v[j * n + i] = v[i * n + j];
  return x;
}

// Wherever it stands: in both triangles, in the first and the last tile, on the diagonal.
TEST(KernelsSymmetry, FindsTheLargestElementAndDifference) {
  for (const int64_t n : {1, 2, 31, 32, 33, 100, 300})
    for (const int64_t i : {int64_t{0}, n / 3, n - 1})
      for (const int64_t j : {int64_t{0}, n / 2, n - 1})
        for (const double value : {7.0, -7.0}) {
          Tensor x = symmetric(n);
          double* v = x.mutable_data<double>();
          const double other = v[j * n + i];
          v[i * n + j] = value;
          const kernels::Symmetry found = kernels::symmetry(x);
          EXPECT_EQ(found.largest, 7) << n << " at " << i << ", " << j;
          EXPECT_EQ(found.difference, i == j ? 0 : std::abs(value - other)) << n;
        }
}

TEST(KernelsSymmetry, ShowsWhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), infinity, -infinity})
    for (const int64_t at : {0, 1, 7 * 130 + 90, 90 * 130 + 7, 129 * 130 + 129}) {
      Tensor x = symmetric(130);
      x.mutable_data<double>()[at] = bad;
      EXPECT_FALSE(std::isfinite(kernels::symmetry(x).largest)) << at;
    }
}

TEST(KernelsSymmetry, IsTheSameOnManyThreads) {
  const int before = num_threads();
  Generator rng(3);
  const Tensor x = normal({500, 500}, rng, 0, 1, f64);
  set_num_threads(1);
  const kernels::Symmetry one = kernels::symmetry(x);
  for (const int threads : {2, 3, 16}) {
    set_num_threads(threads);
    EXPECT_EQ(kernels::symmetry(x).largest, one.largest);
    EXPECT_EQ(kernels::symmetry(x).difference, one.difference);
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace ladon::kernels_symmetry_test
