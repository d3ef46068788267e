// Sums over the rows of a matrix against their definitions, in long double.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ladon/core/kernels/particles.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::kernels {
namespace {

using testing::element;
using testing::layouts;
using testing::same_bits;
using testing::sample;
using Exact = long double;

struct Size {
  std::int64_t rows, columns;
};
// Around the sides of squares, tiles and blocks: 4 and 64 rows; 24, 48, 96, 128, 192 and 768
// columns, and the 8192 of a partial sum.
const Size sizes[] = {{1, 1},   {1, 40},   {2, 3},   {3, 97},  {4, 128},  {5, 129},    {7, 769},
                      {8, 193}, {63, 191}, {64, 48}, {65, 49}, {130, 25}, {200, 2000}, {3, 20000}};

/// f(i, j, k) summed over the columns k.
Exact over_columns(const Tensor& x, const std::function<Exact(std::int64_t column)>& f) {
  Exact sum = 0;
  for (std::int64_t k = 0; k < x.size(1); ++k) sum += f(k);
  return sum;
}

Exact at(const Tensor& x, std::int64_t i, std::int64_t k) { return element(x, i * x.size(1) + k); }

TEST(KernelsParticles, PairsOfRows) {
  for (const auto [m, n] : sizes)
    for (const DType dtype : {f32, f64}) {
      const Tensor x = sample({m, n}, dtype);
      const Tensor d2 = squared_distances(x), inner = inner_products(x);
      EXPECT_TRUE(d2.shape() == Shape({m, m}) && d2.dtype() == f64);
      const std::int64_t step = m > 20 ? 7 : 1;
      for (std::int64_t i = 0; i < m; i += step)
        for (std::int64_t j = 0; j < m; j += step) {
          const Exact apart = over_columns(x, [&](std::int64_t k) {
            return (at(x, i, k) - at(x, j, k)) * (at(x, i, k) - at(x, j, k));
          });
          const Exact product =
              over_columns(x, [&](std::int64_t k) { return at(x, i, k) * at(x, j, k); });
          EXPECT_EQ(at(d2, i, j), apart);  // of samples, multiples of 1/64, every sum is exact
          EXPECT_EQ(at(inner, i, j), product);
        }
    }
}

// Rows that differ by one unit in the last place, far from the origin.
TEST(KernelsParticles, DistancesAreThoseOfTheDifferences) {
  for (const std::int64_t m : {3, 70}) {
    Tensor x = empty({m, 300});
    for (std::int64_t p = 0; p < x.count(); ++p)
      testing::set_element(x, p, 1000 + (p / 300 % 3) * 0x1p-14);
    const Tensor d2 = squared_distances(x);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < m; ++j) {
        const auto steps = static_cast<double>(i % 3 - j % 3);
        EXPECT_EQ(at(d2, i, j), Exact(300 * steps * steps * 0x1p-28));
      }
  }
}

TEST(KernelsParticles, SumsOfRowsWithWeights) {
  for (const auto [m, n] : sizes)
    for (const DType dtype : {f32, f64}) {
      const Tensor x = sample({m, n}, dtype, 2), w = sample({m, m}, dtype, 3);
      const Tensor mixed = mix(w, x), apart = mix_differences(w, x);
      EXPECT_TRUE(mixed.shape() == x.shape() && mixed.dtype() == dtype);
      const std::int64_t step = m * n > 10000 ? 97 : 1;
      for (std::int64_t p = 0; p < m * n; p += step) {
        const std::int64_t i = p / n, k = p % n;
        Exact sum = 0, difference = 0;
        for (std::int64_t j = 0; j < m; ++j) {
          sum += at(w, i, j) * at(x, j, k);
          difference += at(w, i, j) * (at(x, i, k) - at(x, j, k));
        }
        // multiples of 1/4096 below 4096, which f32 holds
        EXPECT_EQ(at(mixed, i, k), sum);
        EXPECT_EQ(at(apart, i, k), difference);
      }
    }
}

TEST(KernelsParticles, OneMinusZeroKeepsItsSign) {
  const Tensor minus = full({1, 30}, -0.0), one = full({1, 1}, 1);
  EXPECT_TRUE(same_bits(mix(one, minus), minus));
}

TEST(KernelsParticles, RowsAndTheirNorms) {
  for (const auto [m, n] : sizes)
    for (const DType dtype : {f32, f64}) {
      const Tensor x = sample({m, n}, dtype, 4), z = sample({m, n}, dtype, 5);
      const RowSums sums = weighted_sum(0.5, x, -2, z);
      EXPECT_TRUE(sums.y.shape() == x.shape() && sums.y.dtype() == dtype);
      const std::vector<double> alone = squared_norms(x);
      for (std::int64_t i = 0; i < m; ++i) {
        Exact of_x = 0, of_z = 0, of_y = 0;
        for (std::int64_t k = 0; k < n; ++k) {
          const Exact y = at(x, i, k) / 2 - 2 * at(z, i, k);
          EXPECT_EQ(at(sums.y, i, k), y);
          of_x += at(x, i, k) * at(x, i, k);
          of_z += at(z, i, k) * at(z, i, k);
          of_y += y * y;
        }
        const auto row = static_cast<std::size_t>(i);
        EXPECT_EQ(alone[row], double(of_x));
        EXPECT_EQ(sums.squared_norms[0][row], double(of_x));
        EXPECT_EQ(sums.squared_norms[1][row], double(of_z));
        EXPECT_EQ(sums.squared_norms[2][row], double(of_y));
      }
    }
}

// Squares of 1e30 are ∞ in f32, those of 1e-30 are 0.
TEST(KernelsParticles, SquaresAreOfDoublePrecision) {
  for (const double size : {1e30, 1e-30}) {
    Tensor x = empty({2, 50});
    for (std::int64_t p = 0; p < 100; ++p) testing::set_element(x, p, p < 50 ? size : -size);
    const double square = element(x, 0) * element(x, 0);
    EXPECT_NEAR(squared_norms(x)[0], 50 * square, 1e-13 * square);
    EXPECT_NEAR(element(squared_distances(x), 1), 200 * square, 1e-12 * square);
    EXPECT_NEAR(element(inner_products(x), 1), -50 * square, 1e-12 * square);
  }
}

TEST(KernelsParticles, OnEveryLayoutAndWithoutColumns) {
  const Tensor x = sample({5, 20}), w = sample({5, 5}, f32, 2);
  for (const auto& layout : layouts(x)) {
    EXPECT_TRUE(same_bits(squared_distances(layout), squared_distances(x)));
    EXPECT_TRUE(same_bits(inner_products(layout), inner_products(x)));
    EXPECT_TRUE(same_bits(mix(w, layout), mix(w, x)));
    EXPECT_TRUE(same_bits(mix_differences(w, layout), mix_differences(w, x)));
    EXPECT_TRUE(same_bits(weighted_sum(2, layout, 3, x).y, weighted_sum(2, x, 3, layout).y));
    EXPECT_EQ(squared_norms(layout), squared_norms(x));
  }
  const Tensor none = empty({3, 0});
  EXPECT_TRUE(same_bits(squared_distances(none), zeros({3, 3}, f64)));
  EXPECT_EQ(mix(full({3, 3}, 1), none).count(), 0);
  EXPECT_EQ(squared_norms(none), std::vector<double>(3));
}

TEST(KernelsParticles, AreTheSameAtAnyNumberOfThreads) {
  const Tensor w = sample({70, 70}, f32, 1);
  Tensor x = empty({70, 40000});
  for (std::int64_t p = 0; p < x.count(); ++p)
    testing::set_element(x, p, std::sin(0.7 * double(p)));
  const int before = num_threads();
  const auto all = [&](int threads) {
    set_num_threads(threads);
    return std::vector<Tensor>{squared_distances(x), inner_products(x), mix(w, x),
                               mix_differences(w, x)};
  };
  const auto one = all(1), three = all(3);
  set_num_threads(before);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], three[i]));
}

}  // namespace
}  // namespace ladon::kernels
