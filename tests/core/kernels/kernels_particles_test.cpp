// Sums over the rows of a matrix, as particle methods need them, compared with their definitions in
// long double.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ladon/core/kernels/particles.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::kernels::kernels_particles_test {
namespace {

using layout::element;
using layout::layouts;
using layout::same_bits;
using layout::sample;
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
          // of samples, multiples of 1/64, every sum in f64 is exact
          EXPECT_NEAR(double(at(d2, i, j)), double(apart), dtype == f64 ? 0 : 1e-7 * double(apart));
          EXPECT_EQ(at(inner, i, j), product);
        }
    }
}

// Rows that differ by one unit in the last place, far from the origin.
TEST(KernelsParticles, DistancesAreThoseOfTheDifferences) {
  for (const std::int64_t m : {3, 70}) {
    Tensor x = empty({m, 300});
    for (std::int64_t p = 0; p < x.count(); ++p)
      layout::set_element(x, p, 1000 + (p / 300 % 3) * 0x1p-14);
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

/// The forces of the definition, with R from the differences; `size` collects Σ |terms| per
/// element.
struct ExactForce {
  Exact driving = 0, repulsive = 0, size = 0;
};
ExactForce force_at(const Tensor& k, const Tensor& g, const Tensor& w, const Tensor& x,
                    std::int64_t i, std::int64_t c) {
  ExactForce f{.driving = k.defined() ? 0 : at(g, i, c)};
  for (std::int64_t j = 0; j < x.size(0); ++j) {
    if (k.defined()) f.driving += at(k, i, j) * at(g, j, c);
    f.repulsive += at(w, i, j) * (at(x, i, c) - at(x, j, c));
    f.size += std::abs(at(w, i, j)) * (std::abs(at(x, i, c)) + std::abs(at(x, j, c))) +
              (k.defined() ? std::abs(at(k, i, j) * at(g, j, c)) : 0);
  }
  return f;
}

TEST(KernelsParticles, BothForcesInOnePass) {
  for (const auto [m, n] : sizes)
    for (const DType dtype : {f32, f64})
      for (const bool mixes : {true, false}) {
        const Tensor x = sample({m, n}, dtype, 2), g = sample({m, n}, dtype, 6),
                     w = sample({m, m}, dtype, 3), k = mixes ? sample({m, m}, dtype, 7) : Tensor();
        const RowSums sums = forces(0.5, k, g, -2, w, x);
        const double epsilon = (dtype == f64 ? 0x1p-53 : 0x1p-24) * std::sqrt(double(m) + 8);
        const std::int64_t step = m > 20 ? 61 : 1;
        for (std::int64_t i = 0; i < m; i += step) {
          Exact norms[3] = {};
          Exact largest = 0;
          for (std::int64_t c = 0; c < n; ++c) {
            const ExactForce f = force_at(k, g, w, x, i, c);
            const Exact y = f.driving / 2 - 2 * f.repulsive;
            EXPECT_LE(std::abs(at(sums.y, i, c) - y), 16 * epsilon * (2 * f.size + std::abs(y)))
                << m << " × " << n << " at " << i << ", " << c;
            norms[0] += f.driving * f.driving;
            norms[1] += f.repulsive * f.repulsive;
            norms[2] += y * y;
            largest = std::max(largest, f.size);
          }
          for (std::size_t s = 0; s < 3; ++s)
            EXPECT_NEAR(sums.squared_norms[s][static_cast<std::size_t>(i)], double(norms[s]),
                        64 * epsilon * double(n * largest * largest + norms[s]));
        }
      }
}

// Far from the origin the sums are formed around the mean of all rows: only the distances count.
TEST(KernelsParticles, ForcesOfAClusterFarFromTheOrigin) {
  Tensor x = empty({6, 200}), w = empty({6, 6});
  for (std::int64_t p = 0; p < x.count(); ++p)
    layout::set_element(x, p, 1000 + 0x1p-13 * double(p * 7919 % 61));
  for (std::int64_t p = 0; p < w.count(); ++p) layout::set_element(w, p, p % 7 == 0 ? 0 : 1);
  const Tensor none = full({6, 200}, 0);
  const RowSums sums = forces(1, Tensor(), none, 1, w, x);
  for (std::int64_t i = 0; i < 6; ++i)
    for (std::int64_t c = 0; c < 200; ++c)
      EXPECT_NEAR(double(at(sums.y, i, c)), double(force_at(Tensor(), none, w, x, i, c).repulsive),
                  6 * 0x1p-13 * 61 * 1e-6);
}

TEST(KernelsParticles, CancellationBoundsTheErrorOfSumsAroundTheMean) {
  const Tensor two = full({2, 2}, 1.0, f64);
  Tensor d2 = empty({2, 2}, f64);
  for (std::int64_t p = 0; p < 4; ++p) layout::set_element(d2, p, p == 1 || p == 2 ? 9 : 0);
  EXPECT_NEAR(cancellation(two, d2), 2, 1e-14);  // r = 1.5 each: √72·√4.5/9
  // two pairs at distance 1, 1000 from each other, that repel only within a pair
  Tensor far = empty({4, 4}, f64), w = empty({4, 4}, f64);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j) {
      const bool together = i / 2 == j / 2;
      layout::set_element(far, i * 4 + j, i == j ? 0 : together ? 1 : 1e6);
      layout::set_element(w, i * 4 + j, together && i != j ? 1 : 0);
    }
  EXPECT_GT(cancellation(w, far), 1e5);
  EXPECT_FALSE(std::isfinite(cancellation(zeros({3, 3}, f64), zeros({3, 3}, f64))));
}

TEST(KernelsParticles, FindsWhatIsNotFinite) {
  for (const DType dtype : {f32, f64})
    for (const std::int64_t n : {1, 31, 32, 100, 70000}) {
      Tensor x = full({1, n}, 1e30, dtype);
      EXPECT_TRUE(all_finite(x));
      for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL})
        for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
          layout::set_element(x, at, bad);
          EXPECT_FALSE(all_finite(x)) << bad << " at " << at << " of " << n;
          layout::set_element(x, at, 0);
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
    for (std::int64_t p = 0; p < 100; ++p) layout::set_element(x, p, p < 50 ? size : -size);
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
  for (std::int64_t p = 0; p < x.count(); ++p) layout::set_element(x, p, std::sin(0.7 * double(p)));
  const int before = num_threads();
  std::vector<std::vector<double>> norms[3];
  const auto all = [&](int threads) {
    set_num_threads(threads);
    const RowSums both = forces(1, w, x, -1, w, x);
    for (std::size_t s = 0; s < 3; ++s) norms[s].push_back(both.squared_norms[s]);
    return std::vector<Tensor>{squared_distances(x), inner_products(x), mix(w, x),
                               mix_differences(w, x), both.y};
  };
  const auto one = all(1), three = all(3);
  set_num_threads(before);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], three[i]));
  for (const auto& of_sum : norms) EXPECT_EQ(of_sum[0], of_sum[1]);
}

}  // namespace
}  // namespace ladon::kernels::kernels_particles_test
