// The no-U-turn sampler: its trees of leapfrog steps, and Neal's funnel as a target.

#include "ladon/optim/extra/samplers/nuts.h"

#include <numbers>
#include <utility>

#include "ladon/tests/optim/samplers/densities.h"

namespace ladon::test::nuts_test {
namespace {

/// v ~ N(0, s²), x_i | v ~ N(0, e^v), D − 1 of them (Neal 2003).
LogDensity funnel(std::int64_t dim, double s) {
  return LogDensity(dim, [=](const Tensor& t) {
    const Tensor v = select(t, 1, 0), x = slice(t, 1, {.start = 1});
    return -0.5 * square(v / s) - 0.5 * double(dim - 1) * v - 0.5 * sum(square(x), 1) * exp(-v);
  });
}

TEST(Nuts, DrawsAMildFunnel) {
  Generator rng(1);
  const Chains chains = nuts(funnel(4, 1), scattered(16, 4),
                             {.draws = 1500, .warmup = 300, .target_accept = 0.95}, rng);
  expect_converged(chains.draws);
  const Tensor v = number(chains.draws, 0);
  expect_mean(v, 0);
  expect_mean(square(v), 1);
  expect_mean(cast(less(v, -1.6449), f64), 0.05);  // into the neck
  // E x² = E e^v = √e
  expect_mean(square(number(chains.draws, 1)), std::exp(0.5));
}

// Neal's own has s = 3 and nine x: e^v spans six orders of magnitude, and no one step fits. As it
// is, draws keep out of the neck; in z = (v/s, x·e^−v/2) it is N(0, I).
TEST(Nuts, DrawsNealsFunnelInOtherCoordinates) {
  const LogDensity density = funnel(10, 3);
  Generator rng(1);
  const Chains bent =
      nuts(density, scattered(8, 10), {.draws = 400, .warmup = 300, .max_depth = 7}, rng);
  EXPECT_GT(split_rhat(number(bent.draws, 0)).item(), 1.01);

  const LogDensity straight(10, [&](const Tensor& z) {
    const Tensor v = 3.0 * slice(z, 1, {.stop = 1}), x = slice(z, 1, {.start = 1}) * exp(0.5 * v);
    // ln |∂(v, x)/∂z| = 9·v/2 + ln 3
    const Tensor theta = concat({v, x}, 1), w = select(theta, 1, 0);
    return -0.5 * square(w / 3.0) - 4.5 * w - 0.5 * sum(square(x), 1) * exp(-w) + 4.5 * w;
  });
  const Chains chains = nuts(straight, scattered(8, 10), {.draws = 1000, .warmup = 300}, rng);
  expect_converged(chains.draws);
  const Tensor v = 3.0 * number(chains.draws, 0);
  expect_mean(v, 0);
  expect_mean(square(v), 9);
  expect_mean(cast(less(v, -4.9346), f64), 0.05);
  // ln x² = v + ln z², E ln z² = −γ − ln 2, of each x
  for (std::int64_t d = 1; d < 10; ++d)
    expect_mean(v + log(square(number(chains.draws, d))), -0.5772156649 - std::log(2), 5);
}

// On N(0, I) of many dimensions a trajectory turns back after a time of π and is where it began
// after 2π. A tree of n leaves spans (n − 1)·ε. Where that is just below π, two of them are just
// beyond 2π, and their ends on the way forth again: judged by its ends alone such a trajectory goes
// on for many rounds (7π and 10π on average in the first two cases).
TEST(Nuts, TurnsBackInTime) {
  const LogDensity p(200, [](const Tensor& x) { return -0.5 * sum(square(x), 1); });
  const std::vector<std::pair<double, double>> leaves_and_spans{
      {4, 2.75}, {8, 2.95}, {8, 2}, {16, 3.1}};
  for (const auto& [leaves, span] : leaves_and_spans) {
    const double step = span / (leaves - 1);
    Generator rng(1);
    const Chains chains = nuts(p, scattered(4, 200), {.draws = 50, .warmup = 0, .step = step}, rng);
    const double time = step * double(chains.gradients - 4) / 200;
    EXPECT_GT(time, 0.8 * std::numbers::pi) << leaves;
    EXPECT_LT(time, 2.2 * std::numbers::pi) << leaves;
  }
}

TEST(Nuts, StopsAtItsDepth) {
  const LogDensity p(1, [](const Tensor& x) { return -0.5 * sum(square(x), 1); });
  for (const int depth : {1, 3}) {
    Generator rng(1);
    const Chains chains =
        nuts(p, zeros({2, 1}), {.draws = 20, .warmup = 0, .max_depth = depth, .step = 1e-3}, rng);
    EXPECT_EQ(chains.gradients, 2 + 40 * ((1 << depth) - 1));
  }
}

TEST(Nuts, AChainIsTheSameInOtherCompany) {
  const LogDensity p = tilted_logistic(3);
  const NutsOptions options{.draws = 60, .warmup = 20, .step = 0.6};
  Generator rng(1), again(1);
  const Tensor start = scattered(4, 3);
  const Chains four = nuts(p, start, options, rng);
  const Chains two = nuts(p, slice(start, 0, {.stop = 2}), options, again);
  EXPECT_TRUE(same_bits(two.draws, contiguous(slice(four.draws, 0, {.stop = 2}))));
}

TEST(Nuts, ReachesItsTargetAcceptance) {
  for (const double target : {0.7, 0.9}) {
    Generator rng(1);
    const Chains chains = nuts(Correlated(10).density(), scattered(8, 10),
                               {.draws = 500, .warmup = 1000, .target_accept = target}, rng);
    double mean = 0;
    for (const double a : chains.acceptance) mean += a / 8;
    EXPECT_NEAR(mean, target, 0.06);
  }
}

TEST(Nuts, RefusesBadDepths) {
  Generator rng(1);
  const Tensor start = zeros({1, 1});
  expect_error([&] { nuts(tilted_logistic(), start, {.max_depth = 0}, rng); }, "max_depth is 0");
  expect_error([&] { nuts(tilted_logistic(), start, {.max_depth = 25}, rng); }, "from 1 to 24");
  expect_error([&] { nuts(tilted_logistic(), start, {.step = -2}, rng); }, "step is -2");
}

}  // namespace
}  // namespace ladon::test::nuts_test
