// Hamiltonian Monte Carlo: its step size, its mass matrix, and the posterior of a model.

#include "ladon/optim/samplers/hmc.h"

#include "ladon/layers/linear.h"
#include "ladon/tests/optim/posterior/prediction.h"
#include "ladon/tests/optim/samplers/densities.h"

namespace ladon::test::hmc_test {
namespace {

TEST(Hmc, ReachesItsTargetAcceptance) {
  const LogDensity p = Correlated(10).density();
  for (const double target : {0.8, 0.9}) {
    Generator rng(1);
    const Chains chains = hmc(p, scattered(8, 10), {.warmup = 1500, .target_accept = target}, rng);
    double mean = 0;
    for (const double a : chains.acceptance) mean += a / 8;
    EXPECT_NEAR(mean, target, 0.04);
  }
}

TEST(Hmc, TellsOfAWarmUpThatFoundNoStep) {
  const LogDensity p = Correlated(10).density();
  const auto told = [&](std::int64_t warmup, double step) {
    Generator rng(1);
    testing::internal::CaptureStderr();
    const Chains chains =
        hmc(p, scattered(8, 10), {.draws = 50, .warmup = warmup, .step = step}, rng);
    const std::string text = testing::internal::GetCapturedStderr();
    double mean = 0;
    for (const double a : chains.acceptance) mean += a / 8;
    EXPECT_EQ(mean < 0.4 && step == 0, !text.empty()) << mean << ": " << text;
    return text;
  };
  EXPECT_NE(told(1, 0).find("ladon: [hmc] proposals are accepted with probability"),
            std::string::npos);
  EXPECT_EQ(told(1000, 0), "");
  EXPECT_EQ(told(0, 100), "") << "a step that was given is as it was wished";
}

// After the last window of a short warm-up enough draws are left to find a step size for the new M.
TEST(Hmc, FindsAStepSizeInAShortWarmUp) {
  const LogDensity p(1, [](const Tensor& x) { return -0.5 * square(select(x, 1, 0) - 3); });
  for (const std::int64_t warmup : {8, 15, 19, 20, 21, 25, 30, 40, 49}) {
    double mean = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Generator rng(seed);
      const Chains chains = hmc(p, ones({1, 1}, f64), {.draws = 60, .warmup = warmup}, rng);
      mean += chains.acceptance[0] / 20;
    }
    EXPECT_GT(mean, 0.7) << warmup << " draws of warm-up";
  }
}

// M⁻¹ is the variances: of some 5000 draws to √(2/5000) = 2% each if they were independent.
TEST(Hmc, AdaptsItsMassToTheVariances) {
  Generator rng(1);
  const LogDensity p = Correlated(6).density();
  const Chains chains = hmc(p, scattered(8, 6), {.draws = 1, .warmup = 2000}, rng);
  for (std::int64_t d = 0; d < 6; ++d)
    EXPECT_NEAR(chains.inverse_mass.to_vector()[d] / std::pow(Correlated::sigma(d), 2), 1, 0.3);
  const Chains plain =
      hmc(p, scattered(8, 6), {.draws = 1, .warmup = 100, .adapt_mass = false}, rng);
  EXPECT_EQ(plain.inverse_mass.to_vector(), std::vector<double>(6, 1));
}

TEST(Hmc, TakesAGivenStepAsItIs) {
  const LogDensity p = tilted_logistic(3);
  const HmcOptions options{.draws = 100, .warmup = 50, .step = 0.7};
  Generator rng(1), again(1);
  const Tensor start = scattered(3, 3);
  const Chains three = hmc(p, start, options, rng);
  EXPECT_EQ(three.step, 0.7);
  EXPECT_EQ(three.inverse_mass.to_vector(), std::vector<double>(3, 1));
  // nothing is shared, so a chain draws the same by itself
  const Chains one = hmc(p, slice(start, 0, {.stop = 1}), options, again);
  EXPECT_TRUE(same_bits(one.draws, contiguous(slice(three.draws, 0, {.stop = 1}))));
}

// y = w·x + b + N(0, s²), prior N(0, 1/λ):  with rows X = (x, 1),
//   precision Λ = XᵀX/s² + λ,  mean Λ⁻¹Xᵀy/s²;  −ln p = N·(mean (f − y)²)/(2s²) + ½λ|θ|².
TEST(Hmc, DrawsTheWeightsOfALinearRegression) {
  const double s2 = 0.25, lambda = 2;
  Generator rng(1);
  const Tensor x = normal({12, 2}, rng, 0.5, 1, f64), noise = normal({12, 1}, rng, 0, 0.5, f64);
  const Tensor rows = concat({x, ones({12, 1}, f64)}, 1);
  const Tensor y = matmul(rows, tensor({1, -0.5, 0.3}, {3, 1}, f64)) + noise;
  const Tensor covariance = invert(matmul(transpose(rows), rows) / s2 + lambda * eye(3, f64)).first;
  const auto expected = matmul(covariance, matmul(transpose(rows), y) / s2).to_vector();

  Linear model({.in = 2, .out = 1}, rng);
  model.to(f64);
  model.eval();
  const LogDensity p = log_posterior(model, [&] { return mean(square(model(x) - y)) / (2 * s2); },
                                     {.count = 12, .prior_precision = lambda});
  const Chains chains = hmc(p, zeros({4, 3}), {.draws = 1600, .warmup = 200, .steps = 4}, rng);
  expect_converged(chains.draws);
  for (std::int64_t i = 0; i < 3; ++i) {  // 9 figures: 5 errors
    expect_mean(number(chains.draws, i), expected[i], 5);
    for (std::int64_t j = 0; j <= i; ++j)
      expect_mean((number(chains.draws, i) - expected[i]) * (number(chains.draws, j) - expected[j]),
                  covariance.to_vector()[i * 3 + j], 5);
  }
}

TEST(Hmc, CountsDivergences) {
  Generator rng(1);
  const LogDensity p(1, [](const Tensor& x) { return -0.5e6 * sum(square(x), 1); });
  const Chains chains = hmc(p, zeros({2, 1}), {.draws = 50, .warmup = 0, .step = 1}, rng);
  EXPECT_EQ(chains.divergences, 100);
  EXPECT_EQ(amax(abs(chains.draws)).item(), 0);
  EXPECT_EQ(chains.acceptance, (std::vector<double>{0, 0}));
}

TEST(Hmc, RefusesBadStepsAndLengths) {
  Generator rng(1);
  const LogDensity p = tilted_logistic();
  const Tensor start = zeros({1, 1});
  expect_error([&] { hmc(p, start, {.steps = 0}, rng); }, "steps is 0");
  expect_error([&] { hmc(p, start, {.step = -1}, rng); }, "step is -1");
  expect_error([&] { hmc(p, start, {.step = std::nan("")}, rng); }, "step is nan");
  EXPECT_EQ(rng.position(), 0U);
}

}  // namespace
}  // namespace ladon::test::hmc_test
