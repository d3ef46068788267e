#include "ladon/optim/extra/diagnostics/calibration.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "ladon/tests/optim/helpers.h"

namespace ladon::test::calibration_test {
namespace {

// Q(½, x/2) = erfc √(x/2); of 2 and 4 degrees e^−x/2 and e^−x/2·(1 + x/2).
TEST(ChiSquare, HasTheClosedFormsOfFewDegrees) {
  for (const double x : {0.01, 1.0, 7.0, 60.0}) {
    EXPECT_NEAR(chi_square_p_value(x, 1), std::erfc(std::sqrt(x / 2)), 1e-15);
    EXPECT_NEAR(chi_square_p_value(x, 2), std::exp(-x / 2), 1e-15);
    EXPECT_NEAR(
        chi_square_p_value(x, 3),
        std::erfc(std::sqrt(x / 2)) + std::sqrt(2 * x / std::numbers::pi) * std::exp(-x / 2),
        1e-15);
    EXPECT_NEAR(chi_square_p_value(x, 4), std::exp(-x / 2) * (1 + x / 2), 1e-15);
  }
  EXPECT_EQ(chi_square_p_value(0, 7), 1);
  EXPECT_EQ(chi_square_p_value(HUGE_VAL, 7), 0);
}

TEST(ChiSquare, HasTheQuantilesOfTheTables) {
  EXPECT_NEAR(chi_square_p_value(18.307, 10), 0.05, 1e-5);
  EXPECT_NEAR(chi_square_p_value(36.191, 19), 0.01, 1e-5);
  EXPECT_NEAR(chi_square_p_value(124.342, 100), 0.05, 1e-5);
}

// Beyond e^−745, where the first terms of the sum are 0. The cube root of χ²/k is nearly
// N(1 − 2/(9k), 2/(9k)) (Wilson and Hilferty 1931).
TEST(ChiSquare, HasManyDegrees) {
  for (const std::int64_t k : {4999, 5000}) {
    const double variance = 2 / (9 * double(k));
    const double z =
        (std::cbrt(5150 / double(k)) - (1 - variance)) / std::sqrt(variance) / std::sqrt(2);
    EXPECT_NEAR(chi_square_p_value(5150, k), 0.5 * std::erfc(z), 1e-4);
  }
  EXPECT_EQ(chi_square_p_value(1, 5000), 1);
  expect_error([] { chi_square_p_value(-1, 3); }, "the statistic is -1");
  expect_error([] { chi_square_p_value(std::nan(""), 3); }, "the statistic is nan");
  expect_error([] { chi_square_p_value(1, 0); }, "0 degrees");
}

TEST(RankHistogram, CountsDrawsBelowTheTruth) {
  RankHistogram ranks({.quantities = 2, .draws = 3});
  Generator rng(1);
  ranks.add(tensor({0.5, 9}), tensor({0, 1, 1, 2, 0.4, 3}, {3, 2}), rng);
  EXPECT_EQ(ranks.ranks(0), (std::vector<std::int64_t>{0, 0, 1, 0}));
  EXPECT_EQ(ranks.ranks(1), (std::vector<std::int64_t>{0, 0, 0, 1}));
  EXPECT_EQ(ranks.count(), 1);
  EXPECT_EQ(rng.position(), 0U);  // no ties
  const Uniformity u = ranks.uniformity(0, 2);
  EXPECT_EQ(u.counts, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(u.chi_square, 1);  // (½)²/½ twice
  EXPECT_EQ(u.outside, 0);
}

// 10 truths of rank 0 in two bins: χ² = 2·5²/5 = 10. Binomial(10, ½) is 0 with probability .001, at
// most 1 with .011, at most 8 with .989 and at most 9 with .999: the band is 1 … 9.
TEST(RankHistogram, HasABinomialBand) {
  RankHistogram ranks({.draws = 1});
  Generator rng(1);
  for (int i = 0; i < 10; ++i) ranks.add(tensor({0}), tensor({1}, {1, 1}), rng);
  const Uniformity u = ranks.uniformity(0, 2);
  EXPECT_EQ(u.low, 1);
  EXPECT_EQ(u.high, 9);
  EXPECT_EQ(u.outside, 2);
  EXPECT_EQ(u.chi_square, 10);
  EXPECT_NEAR(u.p_value, std::erfc(std::sqrt(5)), 1e-15);
}

/// Ranks where θ ~ N(0, 1), y ~ N(θ, 1), whose posterior is N(y/2, ½), and the sampler's has
/// `width` times that deviation and is `offset` off.
RankHistogram of_conjugate_gaussians(double width, double offset, std::uint64_t seed) {
  RankHistogram ranks({.draws = 99});
  Generator rng(seed);
  for (int i = 0; i < 1000; ++i) {
    const double truth = rng.normal(), y = truth + rng.normal();
    ranks.add(tensor({truth}, f64),
              normal({99, 1}, rng, y / 2 + offset, width * std::sqrt(0.5), f64), rng);
  }
  return ranks;
}

TEST(RankHistogram, IsUniformForTheExactPosterior) {
  const Uniformity u = of_conjugate_gaussians(1, 0, 1).uniformity(0, 20);
  EXPECT_GT(u.p_value, 1e-4);
  EXPECT_LE(u.outside, 3);  // 20 bins at 1% each: four or more less than once in 10,000
  EXPECT_EQ(u.low, 33);     // 50 ± 2.6·√(50·.95)
  EXPECT_EQ(u.high, 69);
}

TEST(RankHistogram, TellsTooNarrowFromTooWideAndDisplaced) {
  const Uniformity narrow = of_conjugate_gaussians(0.7, 0, 2).uniformity(0, 20);
  EXPECT_LT(narrow.p_value, 1e-10);
  EXPECT_GT(narrow.counts.front(), narrow.high);
  EXPECT_GT(narrow.counts.back(), narrow.high);
  const Uniformity wide = of_conjugate_gaussians(1.5, 0, 3).uniformity(0, 20);
  EXPECT_LT(wide.p_value, 1e-10);
  EXPECT_LT(wide.counts.front(), wide.low);
  // Half of the bins hold the truths within .674 deviations of 1.5: 69% instead of 50 ± 1.6.
  EXPECT_GT(std::accumulate(&wide.counts[5], &wide.counts[15], 0.0), 500 + 4 * 16);
  const Uniformity displaced = of_conjugate_gaussians(1, 0.4, 4).uniformity(0, 20);
  EXPECT_LT(displaced.p_value, 1e-10);
  EXPECT_GT(displaced.counts.front(), displaced.high);
  EXPECT_LT(displaced.counts.back(), displaced.low);
}

// A coin, and draws that are coins too: nearly all draws are ties, and ranks are uniform only
// because these are broken at random.
TEST(RankHistogram, BreaksTiesAtRandom) {
  RankHistogram ranks({.draws = 19});
  Generator rng(5);
  for (int i = 0; i < 2000; ++i) {
    const Tensor coins = cast(bernoulli({20, 1}, rng, 0.3), f64);
    ranks.add(select(coins, 0, 0), slice(coins, 0, {.start = 1}), rng);
  }
  EXPECT_GT(ranks.uniformity(0, 20).p_value, 1e-4);
}

TEST(RankHistogram, RefusesBadInputAndAddsNothingThen) {
  Generator rng(1);
  RankHistogram ranks({.quantities = 2, .draws = 4});
  const Tensor truth = tensor({1, std::nan("")}), draws = zeros({4, 2});
  expect_error([&] { ranks.add(truth, draws, rng); }, "truth of quantity 1 is NaN");
  expect_error([&] { ranks.add(zeros({2}), full({4, 2}, std::nan("")), rng); }, "draw 0 of");
  expect_error([&] { ranks.add(zeros({3}), draws, rng); }, "truth must be [2], got [3]");
  expect_error([&] { ranks.add(zeros({2}), zeros({5, 2}), rng); }, "draws must be [4, 2]");
  EXPECT_EQ(ranks.ranks(0), std::vector<std::int64_t>(5));
  expect_error([&] { ranks.uniformity(0, 5); }, "no ranks were added");
  expect_error([&] { ranks.uniformity(0, 3); }, "3 bins were requested for 5 possible ranks");
  expect_error([&] { ranks.uniformity(2, 5); }, "no quantity 2");
  expect_error([] { RankHistogram({.draws = 0}); }, "1 quantities and 0 draws");
}

}  // namespace
}  // namespace ladon::test::calibration_test
