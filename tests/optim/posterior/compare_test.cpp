// Approximate posteriors compared with the exact one: for functions that are linear in their
// weights, for which everything is known in closed form, and for attention.

#include "ladon/optim/posterior/compare.h"

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/linear.h"
#include "ladon/layers/pooling.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::compare_test {
namespace {

Tensor draws(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

/// f = Θ·Φᵀ at 5 training and 4 test inputs: the posterior is a Gaussian process with kernel Φ·Φᵀ.
struct LinearTask {
  Tensor phi = draws({9, 12}, 1) / 2.0;
  RegressionTask task{.dim = 12,
                      .functions =
                          [phi = phi](const Tensor& theta, std::int64_t inputs) {
                            return matmul(theta, transpose(slice(phi, 0, {.stop = inputs})));
                          },
                      .inputs = 9,
                      .targets = draws({5}, 2),
                      .noise = 0.2};
  Tensor kernel = matmul(phi, transpose(phi));
  GpPrediction exact = [this] {
    const Slice train{.stop = 5}, test{.start = 5};
    const Tensor rows = slice(kernel, 0, test);
    const GaussianProcess gp(slice(slice(kernel, 0, train), 1, train), task.targets,
                             {.noise = task.noise, .jitter = 0});
    return gp.predict(slice(rows, 1, train), slice(rows, 1, test));
  }();
};

PosteriorRun run(const std::string& method, const LinearTask& linear, CompareOptions options = {}) {
  Generator rng(3);
  options.prior_kernel = linear.kernel;
  return run_posterior_method(method, linear.task, options, rng);
}

// Chains from starts of their own are independent: of 20 chain means the standard error is their
// standard deviation over √20, and Student's law with 19 degrees of freedom exceeds 6 once in a
// hundred thousand.
void expect_exact(const std::string& method, const LinearTask& linear, const PosteriorRun& made) {
  const std::int64_t chains = 20;
  const Tensor f = reshape(made.functions, {made.functions.size(0) / chains, chains, 4});
  const auto expect = [&](const Tensor& of_chains, const Tensor& exact) {  // [20, 4], [4]
    const Tensor error = mean(of_chains, 0) - exact;
    const Tensor se = sqrt(var(of_chains, 0) / double(chains));
    EXPECT_LT(amax(abs(error / se)).item(), 6) << method;
  };
  const Tensor centre = select(linear.exact.mean, 1, 0);
  expect(mean(f, 0), centre);
  expect(mean(square(f - centre), 0), clone(diagonal(linear.exact.covariance)));
  EXPECT_GT(made.gradients, 20 * 1200) << method;
}

TEST(Compare, SamplersAreExactWhereAllIsKnown) {
  const LinearTask linear;
  for (const std::string method : {"hmc", "sghmc"})
    expect_exact(method, linear, run(method, linear, {.steps = 400}));
}

// Langevin dynamics keeps a bias of the order of its step, which it is stated to have here: a few
// percent of the variance.
TEST(Compare, LangevinMethodsAreNearlySo) {
  const LinearTask linear;
  const Belief truth = belief_of(linear.exact);
  for (const std::string method : {"sgld", "spos"}) {
    const PosteriorRun made = run(method, linear, {.members = 40, .steps = 600});
    const BeliefScore score = score_belief(belief_of_draws(made.functions), truth, 0.2);
    EXPECT_NEAR(score.variance_ratio, 1, 0.15) << method;
    EXPECT_LT(score.mean_error, 0.15) << method;
  }
}

// Gradients of one target of five have noise of their own: the stationary variance is larger.
TEST(Compare, NoiseOfBatchesAddsToTheSamplers) {
  const LinearTask linear;
  const Belief truth = belief_of(linear.exact);
  const auto log_ratio = [&](const std::string& method, std::uint64_t seed) {
    Generator rng(seed);
    const PosteriorRun made =
        run_posterior_method(method, linear.task, {.members = 40, .steps = 600}, rng);
    return std::log(score_belief(belief_of_draws(made.functions), truth, 0.2).variance_ratio);
  };
  double sum = 0, squares = 0;
  constexpr int seeds = 8;
  for (int i = 0; i < seeds; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const double more = log_ratio("sgld_minibatch", seed) - log_ratio("sgld", seed);
    sum += more;
    squares += more * more;
  }
  const double mean = sum / seeds, se = std::sqrt((squares / seeds - mean * mean) / (seeds - 1));
  EXPECT_GT(mean / se, 5) << mean << " ± " << se;
}

// A convex posterior has one mode: an ensemble of modes has no spread at all, and its mean is
// exact. With randomized priors its members are exact draws (Osband et al. 2018): their mean has
// the error of 20 draws. The prior's draws have the prior's spread.
TEST(Compare, EnsemblesAreWhatTheoryMakesOfThem) {
  const LinearTask linear;
  const Belief truth = belief_of(linear.exact);
  const auto score = [&](const std::string& method) {
    return score_belief(belief_of_draws(run(method, linear).functions), truth, 0.2);
  };
  const BeliefScore modes = score("ensemble");
  EXPECT_LT(modes.mean_error, 0.02);
  EXPECT_LT(modes.variance_ratio, 1e-3);
  EXPECT_LT(modes.coverage90, 0.89);
  const BeliefScore randomized = score("randomized_prior");
  EXPECT_NEAR(randomized.variance_ratio, 1, 0.5);
  EXPECT_LT(randomized.mean_error, 3 / std::sqrt(20.0));
  const double prior = sum(slice(diagonal(linear.kernel), 0, {.start = 5})).item() /
                       sum(diagonal(linear.exact.covariance)).item();
  EXPECT_NEAR(score("prior").variance_ratio / prior, 1, 0.5);
}

// Particles of 12 numbers, M = 20: α = 1 is too sure of itself, automatic α is nearer to the truth.
TEST(Compare, SvgdIsTooSureUnlessItsWeightIsTheTargets) {
  const LinearTask linear;
  const Belief truth = belief_of(linear.exact);
  const auto ratio = [&](const std::string& method) {
    return score_belief(belief_of_draws(run(method, linear).functions), truth, 0.2).variance_ratio;
  };
  const double plain = ratio("svgd"), automatic_one = ratio("svgd_auto");
  EXPECT_LT(plain, 0.8);
  EXPECT_LT(std::abs(std::log(automatic_one)), std::abs(std::log(plain)));
  EXPECT_GT(ratio("function_svgd"), 0.1);
  EXPECT_LT(ratio("wgd"), 1);
}

TEST(Compare, AMethodsNumbersAreItsOwn) {
  const LinearTask linear;
  const Belief truth = belief_of(linear.exact);
  const auto rows = [&](const std::vector<std::string>& methods) {
    Generator rng(4);
    return compare_posterior(linear.task, truth, methods, {.members = 4, .steps = 20}, rng);
  };
  const auto both = rows({"svgd", "ensemble"}), one = rows({"ensemble"});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].method, "ensemble");
  EXPECT_EQ(both[1].score.w2, one[0].score.w2);
  EXPECT_EQ(one[0].gradients, 80);
}

TEST(Compare, RefusesWhatDoesNotFit) {
  const LinearTask linear;
  test::expect_error([&] { run("svg", linear); },
                     "unknown method `svg`; the methods are hmc, sgld");
  test::expect_error([&] { run("svgd", linear, {.members = 1}); }, "two members, got 1");
  test::expect_error([&] { run("svgd", linear, {.steps = 0}); }, "steps must be from 1 to");
  Generator rng(1);
  test::expect_error([&] { run_posterior_method("function_svgd", linear.task, {}, rng); },
                     "needs options.prior_kernel");
  test::expect_error([&] { run_posterior_method("svgd", {}, {}, rng); }, "has no functions");
}

// --- tasks ---

TEST(RegressionTask, OfWideHeadsIsThatLayer) {
  Generator rng(5);
  const WideHeadsOptions options{.dim = 3, .heads = 2, .query_key_std = 2, .value_output_std = 1.5};
  WideHeads layer(options, rng);
  layer.to(f64);
  const Tensor x = draws({6, 4, 3}, 6);
  const RegressionTask task = wide_heads_task(options, x, draws({4}, 7), 0.1);
  ASSERT_EQ(task.dim, 2 * 12);
  const Tensor row =
      flatten(concat({flatten(layer.query_key, 1, -1), flatten(layer.value_output, 1, -1)}, 1));
  const Tensor f = task.functions(stack({row, 2.0 * row}, 0).detach(), 6);
  EXPECT_TRUE(all_close(select(f, 0, 0), flatten(mean_positions(layer(x))).detach(), 1e-12, 1e-14));
  EXPECT_TRUE(all_equal(task.functions(reshape(row.detach(), {1, 24}), 4),
                        slice(task.functions(reshape(row.detach(), {1, 24}), 6), 1, {.stop = 4})));
}

TEST(RegressionTask, OfANetworkHasItsGradient) {
  Generator rng(8);
  Sequential net(MultiHeadAttention({.dim = 2,
                                     .heads = 2,
                                     .bias = false,
                                     .prior = {.parameterization = Parameterization::ntk}},
                                    rng),
                 MeanPositions(),
                 Linear({.in = 2, .out = 1, .parameterization = Parameterization::ntk}, rng));
  net.to(f64);
  const RegressionTask task = network_task(net, draws({5, 3, 2}, 9), draws({3}, 10), 0.1);
  Sequential standard(MeanPositions(), Linear({.in = 2, .out = 1}, rng));
  test::expect_error(
      [&] {
        network_task(standard, draws({5, 3, 2}, 9), draws({3}, 10), 0.1);
      },
      "no layer of the model is in NTK parameterization");
  EXPECT_TRUE(gradcheck([&](const std::vector<Tensor>& in) { return task.functions(in[0], 5); },
                        {parameter(draws({3, task.dim}, 11))}));
  const Tensor theta = draws({2, task.dim}, 12);
  const DensityScore score = log_posterior(task).score(theta);
  const Tensor f = task.functions(theta, 3);
  test::expect_near(score.value,
                    -0.5 * sum(square(theta), 1) - sum(square(f - task.targets), 1) / 0.2, 1e-10);
}

// A task made by hand: functions [P, 1] of three targets were broadcast.
TEST(RegressionTask, AsksForItsShapesAndNumbers) {
  const auto outputs = [](const Tensor& theta, std::int64_t n) {
    return expand(sum(theta, Axes(1), Dims::keep), {theta.size(0), n});
  };
  const RegressionTask good{3, outputs, 5, draws({3}, 1), 0.1};
  const Tensor theta = draws({2, 3}, 2), f = draws({2, 5}, 3);
  const auto refuses = [&](const RegressionTask& task, const std::string& message) {
    test::expect_error([&] { log_posterior(task)(theta); }, message);
    test::expect_error([&] { test_functions(task, theta); }, message);
  };
  log_posterior(good)(theta);
  EXPECT_EQ(test_functions(good, theta).shape(), Shape({2, 2}));
  RegressionTask bad = good;
  bad.inputs = 2;
  refuses(bad, "3 targets for 2 inputs");
  for (const double noise : {0.0, -1.0, double(NAN), double(INFINITY)}) {
    bad = good;
    bad.noise = noise;
    refuses(bad, "it must be positive");
    test::expect_error([&] { misfit(bad, f); }, "it must be positive");
  }
  for (const Tensor& targets : {Tensor(), draws({3, 1}, 1)}) {
    bad = good;
    bad.targets = targets;
    refuses(bad, "the targets must be [N]");
  }
  const std::vector<RegressionTask> shapes{
      {3, {}, 5, good.targets, 0.1},
      {3, [](const Tensor& t, auto) { return sum(t, Axes(1), Dims::keep); }, 5, good.targets, 0.1},
      {3, [](const Tensor& t, auto) { return sum(t, 1); }, 5, good.targets, 0.1},
      {3, [](auto&&...) { return Tensor(); }, 5, good.targets, 0.1}};
  for (const RegressionTask& task : shapes) refuses(task, "`functions`");
  for (const Shape& shape : {Shape{2, 2}, {3}})
    test::expect_error([&] { misfit(good, draws(shape, 1)); }, "[P, at least 3]");
  for (const Shape& shape : {Shape{3, 3}, {3}, {2, 5}, {2, 1}})
    test::expect_error([&] { misfit(good, f, draws(shape, 1)); }, "targets must be [2, 3]");
}

TEST(RegressionTask, RefusesWhatDoesNotFit) {
  const WideHeadsOptions options{.dim = 2};
  const Tensor x = draws({4, 3, 2}, 1), y = draws({3}, 2);
  test::expect_error([&] { wide_heads_task(options, x, y, 0); }, "the noise is 0");
  test::expect_error([&] { wide_heads_task(options, x, draws({4}, 1), 1); },
                     "4 targets for 4 inputs");
  test::expect_error([&] { wide_heads_task(options, x, draws({3, 1}, 1), 1); }, "must be [N]");
  test::expect_error([&] { wide_heads_task({.dim = 3}, x, y, 1); }, "[N + M, T, 3], got [4, 3, 2]");
  test::expect_error([&] { wide_heads_task({.dim = 2, .out = 2}, x, y, 1); },
                     "must have one output");
}

}  // namespace
}  // namespace ladon::compare_test
