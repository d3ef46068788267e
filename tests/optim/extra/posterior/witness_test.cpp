// Different ways to compute the same posterior must agree: Hamiltonian Monte Carlo on all weights
// of a finite attention layer, sequential Monte Carlo on its latents, and both on infinitely wide
// heads.

#include <cmath>

#include "ladon/layers/attention/attention.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/pooling.h"
#include "ladon/optim/extra/diagnostics/calibration.h"
#include "ladon/optim/posterior/latent_posterior.h"
#include "ladon/optim/posterior/regression.h"
#include "ladon/optim/samplers/hmc.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::witness_test {
namespace {

constexpr double noise = 0.1;

struct Problem {
  Tensor inputs, targets;
};
Problem problem() {
  Generator rng(1);
  return {normal({7, 2, 2}, rng, 0, 1, f64), tensor({0.6, -0.5, 0.3, 0.1}, f64)};
}

/// Two heads, all of width 2, in ntk parameterization.
Sequential network() {
  Generator rng(2);
  Sequential net(MultiHeadAttention({.dim = 2,
                                     .heads = 2,
                                     .head_dim = 2,

                                     .bias = false,
                                     .out = 1,
                                     .prior = {.parameterization = Parameterization::ntk,
                                               .query_key_std = 2,
                                               .value_output_std = 1.5}},
                                    rng),
                 MeanPositions());
  net.to(f64);
  return net;
}

/// Means of f and of f² at the three test inputs, of each chain: [C, 3].
struct ChainMeans {
  Tensor first, second;
};
ChainMeans sample(const RegressionTask& task, std::int64_t draws, std::int64_t chains) {
  Generator rng(3);
  const Tensor start = normal({chains, task.dim}, rng, 0, 1, f64);
  const Chains run =
      hmc(log_posterior(task), start, {.draws = draws, .warmup = 150, .steps = 8}, rng);
  const Tensor f = test_functions(task, reshape(run.draws, {chains * draws, task.dim}));
  const Tensor of_chains = reshape(f, {chains, draws, f.size(1)});
  return {mean(of_chains, 1), mean(square(of_chains), 1)};
}

/// Gated on the errors of both sides: of the chains and of the replicates, each over twelve or
/// more.
void expect_agree(const ChainMeans& chains, const LatentPosterior& exact) {
  const auto expect = [](const Tensor& of_chains, const Tensor& value, const Tensor& se) {
    const double count = static_cast<double>(of_chains.size(0));
    const Tensor error = mean(of_chains, 0) - value;
    const Tensor both = sqrt(var(of_chains, 0) / count + square(se));
    EXPECT_LT(amax(abs(error / both)).item(), 6);
  };
  const Tensor m = select(exact.mean, 1, 0), m_se = select(exact.mean_se, 1, 0);
  expect(chains.first, m, m_se);
  const Tensor v_se = diagonal(exact.within_se) + diagonal(select(exact.between_se, 0, 0));
  expect(chains.second, exact.variance() + square(m), v_se + 2.0 * abs(m) * m_se);
}

LatentPosterior exact_posterior(const infinite::FiniteHeadsOptions& options, const Problem& p) {
  Generator rng(4);
  const Sequential net = network();
  return sample_posterior(infinite::latent_kernel(infinite::finite_heads(net, options), p.inputs),
                          7, p.targets,
                          {.noise = noise, .smc = {.particles = 250}, .replicates = 12}, rng);
}

TEST(Witness, AllWeightsOfTheFiniteLayerAgreeWithItsLatents) {
  const Problem p = problem();
  Sequential net = network();
  const RegressionTask task = network_task(net, p.inputs, p.targets, noise);
  const ChainMeans chains = sample(task, 120, 16);
  const LatentPosterior exact = exact_posterior({.heads = 2, .key_width = 2, .value_width = 2}, p);
  expect_agree(chains, exact);
  // The test can tell: of infinitely wide heads the predictive variance is another.
  const LatentPosterior wide = exact_posterior({.heads = 2}, p);
  const double ratio = sum(exact.variance()).item() / sum(wide.variance()).item();
  EXPECT_GT(std::abs(ratio - 1), 0.1);
}

TEST(Witness, WideHeadsInTheirWeightsAgreeWithTheirLatents) {
  const Problem p = problem();
  const RegressionTask task =
      wide_heads_task({.dim = 2, .heads = 2, .query_key_std = 2, .value_output_std = 1.5}, p.inputs,
                      p.targets, noise);
  expect_agree(sample(task, 400, 20), exact_posterior({.heads = 2}, p));
}

// Simulation-based calibration: of truths drawn from the prior and targets made by them, the
// truths' ranks among the posterior's draws are uniform (Talts et al. 2018). Each row of Θ is a
// chain with targets of its own; a hundred draws, four apart, of 240 truths. The same draws pulled
// together by a third must be seen.
TEST(Witness, RanksOfTruthsAreUniform) {
  const Problem p = problem();
  const std::int64_t truths = 240, draws = 99, n = 4;
  const RegressionTask task =
      wide_heads_task({.dim = 2, .heads = 2, .query_key_std = 2, .value_output_std = 1.5}, p.inputs,
                      p.targets, noise);
  Generator rng(5);
  const Tensor truth = normal({truths, task.dim}, rng, 0, 1, f64);
  const Tensor y = task.functions(truth, n) + normal({truths, n}, rng, 0, std::sqrt(noise), f64);
  const LogDensity each(task.dim, [=](const Tensor& theta) {
    return -0.5 * sum(square(theta), 1) - misfit(task, task.functions(theta, n), y);
  });
  const Chains run = hmc(each, normal({truths, task.dim}, rng, 0, 1, f64),
                         {.draws = draws, .warmup = 150, .thin = 4, .steps = 8}, rng);
  const Tensor all = reshape(run.draws, {truths * draws, task.dim});
  const Tensor f = reshape(test_functions(task, all), {truths, draws, 3}),
               exact = test_functions(task, truth);
  RankHistogram ranks({.quantities = 3, .draws = draws}), narrow({.quantities = 3, .draws = draws});
  for (std::int64_t i = 0; i < truths; ++i) {
    const Tensor own = contiguous(select(f, 0, i)), centre = mean(own, 0, Dims::keep);
    ranks.add(contiguous(select(exact, 0, i)), own, rng);
    narrow.add(contiguous(select(exact, 0, i)), centre + (own - centre) / 1.5, rng);
  }
  for (std::int64_t quantity = 0; quantity < 3; ++quantity) {
    EXPECT_GT(ranks.uniformity(quantity, 10).p_value, 1e-3);
    EXPECT_LT(narrow.uniformity(quantity, 10).p_value, 1e-6);
  }
}

}  // namespace
}  // namespace ladon::witness_test
