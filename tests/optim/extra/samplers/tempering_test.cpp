// Parallel tempering: targets with modes far apart, and the distributions at both ends of the
// temperature ladder.

#include "ladon/optim/extra/samplers/tempering.h"

#include "ladon/tests/optim/samplers/densities.h"

namespace ladon::test::tempering_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// ⅓N(−a, 1) + ⅔N(a, 1) of the first number, N(0, 1) of the second.
LogDensity two_modes(double a) {
  return LogDensity(2, [=](const Tensor& t) {
    const Tensor x = select(t, 1, 0), y = select(t, 1, 1);
    const Tensor modes = stack({-a * x, a * x + std::log(2.0)}, 1);
    return -0.5 * square(x) + logsumexp(modes, 1) - 0.5 * square(y);
  });
}

// The modes are 16 standard deviations apart and all replicas start in the lesser one.
TEST(Tempering, FindsTheWeightsOfModesFarApart) {
  const double a = 8;
  Generator rng(1);
  const Tensor start = full({8, 2}, -a, f64);
  const Tempered found = parallel_tempering(
      two_modes(a), start, {.levels = 6, .lowest = 0.02, .draws = 4000, .warmup = 400, .steps = 4},
      rng);
  const Tensor x = number(found.chains.draws, 0);
  expect_converged(found.chains.draws);
  expect_mean(cast(less(x, 0.0), f64), 1.0 / 3);
  expect_mean(x, a / 3);
  expect_mean(square(x), 1 + a * a);
  expect_mean(number(found.chains.draws, 1), 0);
  for (const double rate : found.swap_rates) EXPECT_GT(rate, 0.3);
  for (const std::int64_t trips : found.round_trips) EXPECT_GT(trips, 20);

  // By itself hmc does not cross (a momentum of 8 is needed), and R̂ has no way to know; chains
  // from both modes tell.
  const HmcOptions alone{.steps = 4, .step = 0.5};
  const Chains left = hmc(two_modes(a), start, alone, rng);
  expect_converged(left.draws);
  EXPECT_LT(amax(number(left.draws, 0)).item(), 0);
  const Chains both = hmc(two_modes(a), concat({start, -start}, 0), alone, rng);
  EXPECT_GT(split_rhat(number(both.draws, 0)).item(), 1.5);
}

// N(0, 1) times the likelihood N(2; θ, ¼): at β, precision 1 + 4β and mean 8β/(1 + 4β).
TEST(Tempering, GoesFromTheBaseToThePosterior) {
  const LogDensity base(1, [](const Tensor& x) { return -0.5 * sum(square(x), 1); });
  const LogDensity likelihood(1, [](const Tensor& x) { return -2.0 * sum(square(x - 2.0), 1); });
  for (const double lowest : {0.0, 0.5}) {
    Generator rng(1);
    const Tempered found =
        parallel_tempering(base, likelihood, zeros({8, 1}),
                           {.betas = {1, lowest}, .draws = 2500, .warmup = 300, .steps = 4}, rng);
    const Tensor x = number(found.chains.draws, 0);
    expect_converged(found.chains.draws);
    expect_mean(x, 1.6);
    expect_mean(square(x - 1.6), 0.2);
    const DensityScore there = likelihood.score(reshape(x, {8 * 2500, 1}));
    const Tensor expected = there.value + base(reshape(x, {8 * 2500, 1}));
    expect_values(reshape(found.chains.log_density, {8 * 2500}), expected.to_vector(), 1e-12);
  }
}

// E min(1, e^g), g = (β − β′)(ℓ(θ′) − ℓ(θ)), of independent θ ~ p^β and θ′ ~ p^β′. For p = N(0, I)
// in two dimensions −βℓ(θ) = u and −β′ℓ(θ′) = v are exponential, g = (β − β′)(u/β − v/β′), and with
// r = β′/β the mean is 2r/(1 + r). Here r = 0.3: pairs refuse q = 0.7/1.3 of the swaps, and n draws
// hold n/(2 + 2·2q/(1 − q)) round trips if moves leave nothing of the past.
TEST(Tempering, SwapsAndTravelsAtTheRatesOfTheory) {
  const LogDensity p(2, [](const Tensor& x) { return -0.5 * sum(square(x), 1); });
  const std::int64_t draws = 3000;
  Generator rng(1);
  const Tempered found = parallel_tempering(
      p, scattered(16, 2), {.levels = 3, .lowest = 0.09, .draws = draws, .warmup = 200, .steps = 6},
      rng);
  ASSERT_EQ(found.betas.size(), 3U);
  EXPECT_NEAR(found.betas[1], 0.3, 1e-15);
  const double q = 0.7 / 1.3;
  // 24,000 swaps of each pair, correlated: 0.02 is some 5 standard errors
  for (const double rate : found.swap_rates) EXPECT_NEAR(rate, 1 - q, 0.02);
  double trips = 0;
  for (const std::int64_t n : found.round_trips) trips += double(n) / 16;
  const double most = double(draws) / (2 + 4 * q / (1 - q));
  EXPECT_GT(trips, 0.75 * most);
  EXPECT_LT(trips, 1.05 * most);
}

TEST(Tempering, TakesALikelihoodThatHasNoValueSomewhere) {
  // 3 ln x of x > 0, NaN elsewhere, on the base N(0, 1): p ∝ x³e^−x²/2, E x = √(9π/8), E x² = 4
  const LogDensity base(1, [](const Tensor& x) { return -0.5 * sum(square(x), 1); });
  const LogDensity likelihood(1, [](const Tensor& x) { return 3.0 * sum(log(x), 1); });
  Generator rng(1);
  const Tempered found =
      parallel_tempering(base, likelihood, ones({8, 1}),
                         {.betas = {1, 0.5, 0}, .draws = 2500, .warmup = 300, .steps = 4}, rng);
  const Tensor x = number(found.chains.draws, 0);
  EXPECT_GT(amin(x).item(), 0);
  expect_converged(found.chains.draws);
  expect_mean(x, std::sqrt(9.0 / 4 * std::acos(0.0)));
  expect_mean(square(x), 4);
}

TEST(Tempering, OneLevelIsHmc) {
  Generator rng(1), again(1);
  const TemperingOptions options{.levels = 1, .draws = 50, .warmup = 60, .steps = 3};
  const Tempered found = parallel_tempering(tilted_logistic(), scattered(2, 1), options, rng);
  const Chains chains =
      hmc(tilted_logistic(), scattered(2, 1), {.draws = 50, .warmup = 60, .steps = 3}, again);
  EXPECT_TRUE(same_bits(found.chains.draws, chains.draws));
  EXPECT_TRUE(found.swap_rates.empty());
  EXPECT_EQ(found.round_trips, (std::vector<std::int64_t>{0, 0}));
}

TEST(Tempering, RefusesBadLadders) {
  const LogDensity p = tilted_logistic(), other = tilted_logistic(2);
  const Tensor start = zeros({1, 1});
  Generator rng(1);
  const auto refused = [&](const TemperingOptions& options, const char* fragment) {
    expect_error([&] { parallel_tempering(p, start, options, rng); }, fragment);
  };
  refused({.levels = 0}, "levels is 0");
  refused({.levels = 100'000}, "levels is 100000");
  refused({.lowest = 0}, "lowest is 0");
  refused({.lowest = 1}, "in (0, 1)");
  refused({.betas = {0.5}}, "the first β is 0.5");
  refused({.betas = {1, 0.5, 0.5}}, "betas must decrease");
  refused({.betas = {1, std::nan("")}}, "β is nan after 1");
  refused({.betas = {1, -0.1}}, "be at least 0");
  refused({.betas = {1, 0}}, "p⁰ is not a density");
  refused({.steps = 0}, "steps is 0");
  expect_error([&] { parallel_tempering(p, other, start, {}, rng); }, "the likelihood has 2");
  const LogDensity nowhere(1, [](const Tensor& x) { return sum(x * inf, 1); });
  expect_error(
      [&] {
        parallel_tempering(p, nowhere, start, {.betas = {1, 0}}, rng);
      },
      "chain 0 starts where ln p is nan");
}

}  // namespace
}  // namespace ladon::test::tempering_test
