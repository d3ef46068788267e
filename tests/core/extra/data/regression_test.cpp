#include "ladon/core/extra/data/regression.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "ladon/tests/support.h"

namespace ladon::test::regression_test {
namespace {

using namespace metrics;  // NOLINT: all that is tested here

// Standard deviations from the mean: 0, 1, 2 and 3. Within 1 deviation lie .6827, within 2 .9545.
TEST(IntervalCoverage, OfGaussians) {
  const Tensor mean = tensor({1, 1, 1, 1}, f64), variance = full({4}, 4, f64);
  const Tensor targets = tensor({1, 3, -3, 7}, f64);
  EXPECT_EQ(interval_coverage(mean, variance, targets, {0.5, 0.68, 0.69, 0.95, 0.96, 1}),
            (std::vector<double>{0.25, 0.25, 0.5, 0.5, 0.75, 1}));
  EXPECT_EQ(interval_coverage(mean, zeros({4}, f64), targets, {0.9})[0], 0.25);
}

// Of 9 draws 1 … 9 the quantiles stand at places 10q: c = .8 gives [1, 9], c = .6 [2, 8], c = .5
// [2.5, 7.5], c = 0 the median 5.
TEST(IntervalCoverage, OfDraws) {
  const Tensor one = tensor({3, 1, 2, 9, 5, 4, 8, 6, 7}, {9, 1}, f64);
  const auto covered = [&](double target, double level) {
    return interval_coverage(one, full({1}, target, f64), {level})[0] == 1;
  };
  EXPECT_TRUE(covered(1, 0.8) && covered(9, 0.8) && !covered(0.99, 0.8) && !covered(9.01, 0.8));
  EXPECT_TRUE(covered(2, 0.6) && !covered(1.99, 0.6));
  EXPECT_TRUE(covered(2.5, 0.5) && !covered(2.49, 0.5) && covered(7.5, 0.5) && !covered(7.51, 0.5));
  EXPECT_TRUE(covered(5, 0) && !covered(5.01, 0));
  expect_error([&] { covered(5, 0.9); }, "level 0.9 needs 19 draws, got 9");
}

// The rank (n + 1)(1 − c)/2 of a lower end is whole but for the rounding of 1 − c.
TEST(IntervalCoverage, OfDrawsCountsBothEnds) {
  const auto check = [](std::int64_t n, double level, double end) {
    SCOPED_TRACE(testing::Message() << n << ' ' << level);
    std::vector<double> places(static_cast<std::size_t>(n));
    std::iota(places.begin(), places.end(), 0);
    const Tensor draws = from_vector(places, {n, 1});
    for (const double target : {end, static_cast<double>(n - 1) - end})
      EXPECT_EQ(interval_coverage(draws, full({1}, target, f64), {level})[0], 1) << target;
  };
  check(39, 0.95, 0);
  check(19, 0.7, 2);
  check(99, 0.98, 0);
  check(199, 0.99, 0);
}

// Draws and target of one law, whatever it is: covered with probability c, though there are only 9.
TEST(IntervalCoverage, IsExactForExchangeableDraws) {
  Generator rng(1);
  const std::int64_t n = 4000;
  const Tensor all = normal({10, n}, rng, 0, 1, f64);
  std::vector<double> values = all.to_vector();
  for (double& x : values) x = std::exp(x);
  const Tensor draws = from_vector(std::vector<double>(values.begin() + n, values.end()), {9, n});
  const Tensor targets = from_vector(std::vector<double>(values.begin(), values.begin() + n), {n});
  const auto share = interval_coverage(draws, targets, {0.4, 0.8});
  EXPECT_NEAR(share[0], 0.4, 4 * std::sqrt(0.4 * 0.6 / double(n)));
  EXPECT_NEAR(share[1], 0.8, 4 * std::sqrt(0.8 * 0.2 / double(n)));
}

TEST(GaussianNll, IsMinusTheLogDensity) {
  const double expected = (0.5 * std::log(2 * std::numbers::pi) + 0.5 +  // z = 1, σ = 1
                           0.5 * std::log(2 * std::numbers::pi * 4)) /
                          2;  // z = 0, σ = 2
  EXPECT_NEAR(gaussian_nll(tensor({0, 3}), tensor({1, 4}), tensor({1, 3})), expected, 1e-15);
  expect_error([] { gaussian_nll(zeros({1}), zeros({1}), zeros({1})); }, "variance 0 is 0");
}

/// ∫ (F(x) − 1{x ≥ y})² dx by the midpoint rule.
template <class F>
double crps_by_quadrature(const F& cdf, double y) {
  const double from = -30, to = 30, step = 1e-3;
  double sum = 0;
  for (double x = from + step / 2; x < to; x += step) sum += std::pow(cdf(x) - (x >= y), 2) * step;
  return sum;
}

TEST(Crps, OfAGaussianIsItsIntegral) {
  const double mu = 0.5, sigma = 1.7;
  const auto cdf = [=](double x) { return 0.5 * std::erfc((mu - x) / sigma / std::sqrt(2)); };
  for (const double y : {0.5, 2.0, -6.0})
    EXPECT_NEAR(crps(tensor({mu}, f64), tensor({sigma * sigma}, f64), tensor({y}, f64)),
                crps_by_quadrature(cdf, y), 1e-6);
  EXPECT_EQ(crps(tensor({1}), tensor({0}), tensor({3})), 2);
  // At its mean: σ·(2φ(0) − 1/√π) = σ·(√2 − 1)/√π.
  EXPECT_NEAR(crps(tensor({1}), tensor({4}), tensor({1})),
              2 * (std::sqrt(2) - 1) / std::sqrt(std::numbers::pi), 1e-7);
}

// Distances to 1: 1, 1, 3, mean 5/3; between draws 0, 2, 4: 2, 2, 4, mean 8/3.
TEST(Crps, OfDrawsByHand) {
  EXPECT_NEAR(crps(tensor({4, 0, 2}, {3, 1}), tensor({1})), 5.0 / 3 - 8.0 / 6, 1e-15);
  EXPECT_EQ(crps(tensor({1, 1}, {2, 1}), tensor({3})), 2);
  expect_error([] { crps(ones({1, 1}), ones({1})); }, "two draws");
}

// Five draws of N(0, 1) at a time have the Gaussian's score on average.
TEST(Crps, OfDrawsIsUnbiased) {
  Generator rng(2);
  const std::int64_t n = 4000;
  const Tensor draws = normal({5, n}, rng, 0, 1, f64);
  std::vector<double> scores;
  double mean = 0, squares = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> column;
    for (int s = 0; s < 5; ++s) column.push_back(draws.data<double>()[s * n + i]);
    const double score = crps(from_vector(column, {5, 1}), tensor({0.3}, f64));
    mean += score / double(n);
    squares += score * score / double(n);
  }
  const double exact = crps(zeros({1}, f64), ones({1}, f64), tensor({0.3}, f64));
  EXPECT_LT(std::abs(mean - exact), 4 * std::sqrt((squares - mean * mean) / double(n)));
}

TEST(Regression, RefusesBadInput) {
  const Tensor y = zeros({2});
  expect_error([&] { crps(zeros({3}), ones({2}), y); }, "mean must be floating [2]");
  expect_error([&] { crps(y, full({2}, -1), y); }, "variance 0 is -1");
  expect_error([&] { crps(zeros({4, 3}), y); }, "draws must be floating [4, 2]");
  expect_error([&] { interval_coverage(y, y, y, {1.5}); }, "level 1.5 is outside");
  expect_error(
      [&] {
        interval_coverage(zeros({3, 2}), full({2}, std::nan("")), {0.5});
      },
      "targets must be finite: entry 0 is nan");
  expect_error([&] { gaussian_nll(y, y, Tensor()); }, "targets must be [N]");
}

}  // namespace
}  // namespace ladon::test::regression_test
