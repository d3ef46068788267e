// Elliptical slice sampling and tempered sequential Monte Carlo, against posteriors in closed form.

#include "ladon/optim/samplers/smc.h"

#include <cmath>
#include <numbers>

#include "ladon/tests/optim/helpers.h"

namespace ladon::test::smc_test {
namespace {

/// Σ_d ln N(y_d; z_d, v_d) of each row.
LogLikelihood normal_likelihood(const Tensor& y, const Tensor& v) {
  return [=](const Tensor& z) {
    return sum(-0.5 * square(z - y) / v - 0.5 * log(2 * std::numbers::pi * v), 1);
  };
}

// Prior N(0, 1), likelihood N(y; z, v)^β: the posterior is N(βy/(β + v), v/(β + v)) in each
// coordinate. 4,000 independent rows; of their mean the standard error is sd/63, of their variance
// var·sqrt(2/4000).
TEST(EllipticalSlice, LeavesTheTargetInvariant) {
  const Tensor y = tensor({1.5, -0.4, 3.0}, f64), v = tensor({0.5, 2.0, 0.1}, f64);
  const LogLikelihood f = normal_likelihood(y, v);
  const double beta = 0.7;
  const std::int64_t rows = 4000;
  const Tensor mean_exact = beta * y / (beta + v), variance_exact = v / (beta + v);
  Generator rng(1);
  // Exact draws stay exact; and rows that begin at 0 get there.
  for (const bool exact : {true, false}) {
    EllipticalState state;
    state.z = exact ? mean_exact + sqrt(variance_exact) * normal({rows, 3}, rng, 0, 1, f64)
                    : zeros({rows, 3}, f64);
    state.log_likelihood = f(state.z);
    for (std::uint64_t sweep = 0; sweep < (exact ? 3 : 40); ++sweep)
      for (std::int64_t c = 0; c < 3; c += 2)
        elliptical_slice(state, f, beta, c, std::min<std::int64_t>(c + 2, 3),
                         rng.split(2 * sweep + static_cast<std::uint64_t>(c)));
    const Tensor z = state.z, error = mean(z, 0) - mean_exact;
    EXPECT_LT(amax(abs(error) / sqrt(variance_exact / double(rows))).item(), 4.5);
    const Tensor ratio = var(z, 0) / variance_exact;
    EXPECT_LT(amax(abs(ratio - 1.0)).item(), 4.5 * std::sqrt(2.0 / double(rows)));
    EXPECT_TRUE(all_close(state.log_likelihood, f(z), 1e-12, 1e-12));
  }
}

TEST(EllipticalSlice, MovesRowsByThemselves) {
  const LogLikelihood f = normal_likelihood(ones({2}, f64), ones({2}, f64));
  Generator rng(2);
  const Tensor z = normal({5, 2}, rng, 0, 1, f64);
  EllipticalState all{z, f(z)};
  EXPECT_GE(elliptical_slice(all, f, 1, 0, 1, Generator(3)), 5);
  EXPECT_TRUE(same_bits(contiguous(select(all.z, 1, 1)), contiguous(select(z, 1, 1))));
  EllipticalState some{slice(z, 0, {.stop = 2}), f(slice(z, 0, {.stop = 2}))};
  elliptical_slice(some, f, 1, 0, 1, Generator(3));
  EXPECT_TRUE(same_bits(some.z, slice(all.z, 0, {.stop = 2})));
}

// A chain's acceptance is its own: the first of four accepts as often as it does alone.
TEST(EllipticalSlice, AcceptanceIsThatOfEachChain) {
  const Tensor y = tensor({1.5, -0.4}, f64), v = tensor({0.5, 2.0}, f64);
  Generator points(4);
  const Tensor start = normal({4, 2}, points, 0, 1, f64);
  const auto acceptance = [&](const Tensor& from) {
    Generator rng(3);
    const EllipticalOptions options{.draws = 50, .warmup = 5};
    return elliptical_slice_chains(normal_likelihood(y, v), from, options, rng).acceptance;
  };
  const std::vector<double> all = acceptance(start);
  EXPECT_EQ(all[0], acceptance(slice(start, 0, {.stop = 1}))[0]);
  EXPECT_NE(all[0], all[1]);
}

// The same as chains: R̂, and means and variances within their Monte Carlo errors.
TEST(EllipticalSlice, GivesChains) {
  const Tensor y = tensor({1.5, -0.4}, f64), v = tensor({0.5, 2.0}, f64);
  Generator rng(3);
  int told = 0;
  const Chains chains = elliptical_slice_chains(
      normal_likelihood(y, v), normal({8, 2}, rng, 0, 1, f64),
      {.draws = 500, .warmup = 20, .parts = 2, .progress = [&](auto, auto) { ++told; }}, rng);
  EXPECT_EQ(told, 520);
  ASSERT_EQ(chains.draws.shape(), (Shape{8, 500, 2}));
  EXPECT_LT(amax(split_rhat(chains.draws)).item(), 1.01);
  const Tensor exact = y / (1.0 + v), variance = v / (1.0 + v);
  for (int c = 0; c < 2; ++c) {
    const Tensor one = contiguous(select(chains.draws, 2, c));
    const double m = select(exact, 0, c).item(), s2 = select(variance, 0, c).item();
    const Measured first = chain_mean(one), second = chain_mean(square(one - m));
    EXPECT_LT(std::abs(first.value - m), 4.5 * first.se);
    EXPECT_LT(std::abs(second.value - s2), 4.5 * second.se);
  }
  EXPECT_GT(chains.acceptance[0], 0.2);
  EXPECT_LE(chains.acceptance[0], 1);
  EXPECT_GT(chains.gradients, 8 * 1040);
  expect_error(
      [&] {
        elliptical_slice_chains({}, ones({1, 2}, f64), {}, rng);
      },
      "likelihood is an empty function");
  expect_error(
      [&] {
        elliptical_slice_chains(normal_likelihood(y, v), ones({1, 2}, f64), {.parts = 3}, rng);
      },
      "cannot be split into 3");
  expect_error(
      [&] {
        elliptical_slice_chains(normal_likelihood(y, v), ones({1, 2}, f64), {.thin = 0}, rng);
      },
      "thin ≥ 1, got 1000, 1000 and 0");
  expect_error(
      [&] {
        elliptical_slice_chains(normal_likelihood(y, v), full({1, 2}, NAN, f64), {}, rng);
      },
      "chain 0 starts where ln L is nan");
}

// No row ends at a likelihood of 0 or NaN; one that cannot move stays.
TEST(EllipticalSlice, NeverGoesWhereItIsImpossible) {
  const LogLikelihood f = [](const Tensor& z) {
    const Tensor x = select(z, 1, 0);
    return where(greater(x, 0), where(less(x, 1), x, scalar(NAN, f64)), scalar(-INFINITY, f64));
  };
  Generator rng(4);
  EllipticalState state{full({200, 1}, 0.5, f64), full({200}, 0.5, f64)};
  for (std::uint64_t i = 0; i < 20; ++i) elliptical_slice(state, f, 1, 0, 1, rng.split(i));
  EXPECT_GT(amin(state.z).item(), 0);
  EXPECT_LT(amax(state.z).item(), 1);
  EXPECT_GT(var(state.z).item(), 0.01);
  const LogLikelihood never = [](const Tensor& z) { return full({z.size(0)}, -INFINITY, f64); };
  EllipticalState stuck{ones({1, 1}, f64), zeros({1}, f64)};
  elliptical_slice(stuck, never, 1, 0, 1, Generator(5));
  EXPECT_EQ(stuck.z.item(), 1);
}

TEST(EllipticalSlice, RefusesWhatDoesNotFit) {
  const LogLikelihood f = [](const Tensor& z) { return sum(z, 1); };
  EllipticalState state{ones({2, 3}, f64), ones({2}, f64)};
  const Generator rng(1);
  expect_error([&] { elliptical_slice(state, f, 1, 2, 4, rng); },
               "columns [2, 4) must be a nonempty range of the 3 columns");
  expect_error([&] { elliptical_slice(state, f, -1, 0, 1, rng); }, "β is -1");
  expect_error(
      [&] {
        elliptical_slice(
            state, [](const Tensor& z) { return z; }, 1, 0, 1, rng);
      },
      "must be f64 [2], got [2, 3]");
  EllipticalState bad{ones({2, 3}, f64), ones({3}, f64)};
  expect_error([&] { elliptical_slice(bad, f, 1, 0, 1, rng); }, "the state z has 2 rows");
  constexpr std::int64_t many = std::int64_t{1} << 62;
  Generator own(1);
  for (const EllipticalOptions& o :
       {EllipticalOptions{.draws = many, .warmup = 0, .thin = 4},
        EllipticalOptions{.draws = 2, .warmup = 0, .thin = many},
        EllipticalOptions{.draws = 2, .warmup = std::numeric_limits<std::int64_t>::max()}})
    expect_error(
        [&] {
          elliptical_slice_chains(f, zeros({1, 1}), o, own);
        },
        "[elliptical_slice] too many draws: warmup and draws·thin must be below 2^62");
}

// Two modes at ±3 of a likelihood ½N(3; z, v) + ¼N(−3; z, v): the evidence is ½N(3; 0, 1 + v) +
// ¼N(3; …), and the posterior has 2/3 of its mass on the right. Gated on the errors over 20 runs
// (as in latent_posterior_test.cpp).
TEST(TemperedSmc, FindsTheEvidenceAndBothModes) {
  const double v = 0.04;
  const auto density = [=](const Tensor& z, double at) {
    return exp(-0.5 / v * square(z - at)) / std::sqrt(2 * std::numbers::pi * v);
  };
  const LogLikelihood f = [=](const Tensor& z) {
    const Tensor x = select(z, 1, 0);
    return log(0.5 * density(x, 3) + 0.25 * density(x, -3));
  };
  const double exact = 0.75 * std::exp(-4.5 / (1 + v)) / std::sqrt(2 * std::numbers::pi * (1 + v));
  double sum_z = 0, squares_z = 0, sum_right = 0, squares_right = 0;
  const int runs = 20;
  Generator rng(6);
  for (int i = 0; i < runs; ++i) {
    int records = 0;
    const SmcResult run = tempered_smc(1, f, {.particles = 500, .recorded = 2}, rng,
                                       [&](const EllipticalState&) { ++records; });
    EXPECT_EQ(records, 2);
    EXPECT_GT(run.betas.size(), 3U);
    const double z = std::exp(run.log_evidence) / exact;
    const double right = mean(cast(greater(run.state.z, 0.0), f64)).item();
    sum_z += z / runs;
    squares_z += z * z / runs;
    sum_right += right / runs;
    squares_right += right * right / runs;
  }
  const auto se = [](double sum, double squares) {
    return std::sqrt((squares - sum * sum) / (runs - 1));
  };
  EXPECT_LT(std::abs(sum_z - 1), 6 * se(sum_z, squares_z));
  EXPECT_LT(se(sum_z, squares_z), 0.05);
  EXPECT_LT(std::abs(sum_right - 2.0 / 3), 6 * se(sum_right, squares_right));
  EXPECT_LT(se(sum_right, squares_right), 0.03);
}

// z ~ N(0, 1₄) seen as N(1.5; z, v) each: Z = N(1.5; 0, 1 + v)⁴. On the ladder of another run E Ẑ =
// Z at any number of particles. Where their own weights choose the steps, it is an eighth too low
// with ten.
TEST(TemperedSmc, IsUnbiasedOnAGivenLadder) {
  const double v = 0.2, y = 1.5;
  const auto log_normal = [](double x, double variance) {
    return -0.5 * (x * x / variance + std::log(2 * std::numbers::pi * variance));
  };
  const LogLikelihood f = [&](const Tensor& z) {
    std::vector<double> values(static_cast<std::size_t>(z.size(0)));
    for (std::size_t i = 0; i < 4 * values.size(); ++i)
      values[i / 4] += log_normal(y - z.data<double>()[i], v);
    return from_vector(values, {z.size(0)});
  };
  const double exact = 4 * log_normal(y, 1 + v);
  Generator rng(8);
  SmcOptions own{.particles = 300, .keep = 0.8, .sweeps = 2, .recorded = 0};
  const SmcResult pilot = tempered_smc(4, f, own, rng);
  EXPECT_EQ(pilot.betas.back(), 1);
  own.particles = 10;
  SmcOptions given = own;
  given.betas = pilot.betas;
  given.keep = SmcOptions{}.keep;
  EXPECT_EQ(tempered_smc(4, f, given, rng).betas.size(), pilot.betas.size());
  const auto relative_error = [&](const SmcOptions& options) {
    const int runs = 3000;
    double sum = 0, squares = 0;
    for (int i = 0; i < runs; ++i) {
      const double z = std::exp(tempered_smc(4, f, options, rng).log_evidence - exact);
      sum += z / runs;
      squares += z * z / runs;
    }
    return std::pair{sum - 1, std::sqrt((squares - sum * sum) / (runs - 1))};
  };
  const auto [bias, se] = relative_error(given);
  EXPECT_LT(se, 0.03);
  EXPECT_LT(std::abs(bias), 5 * se);
  const auto [own_bias, own_se] = relative_error(own);
  EXPECT_LT(own_bias, -4 * own_se);
}

TEST(TemperedSmc, RefusesWhatDoesNotFit) {
  Generator rng(1);
  const LogLikelihood f = [](const Tensor& z) { return sum(z, 1); };
  expect_error([&] { tempered_smc(3, f, {.parts = 2}, rng); },
               "cannot be split into 2 equal parts");
  expect_error([&] { tempered_smc(3, {}, {}, rng); }, "the likelihood is an empty function");
  const LogLikelihood never = [](const Tensor& z) { return full({z.size(0)}, NAN, f64); };
  expect_error([&] { tempered_smc(3, never, {}, rng); },
               "the largest likelihood of all 1000 particles is 0");
  const auto refuse_ladder = [&](std::vector<double> betas, const char* message) {
    expect_error([&] { tempered_smc(1, f, {.betas = betas}, rng); }, message);
  };
  refuse_ladder({0.5, 0.9}, "the last β is 0.9; it must be 1");
  refuse_ladder({0.5, 0.5, 1}, "β is 0.5 after 0.5; betas must increase");
  refuse_ladder({0, 1}, "β is 0 after 0");
  refuse_ladder({NAN, 1}, "β is nan after 0");
  refuse_ladder(std::vector<double>(1001, 1), "betas has 1001 values");
  const SmcOptions timid{.particles = 10, .keep = 1 - 1e-12, .sweeps = 1};
  expect_error([&] { tempered_smc(1, f, timid, rng); }, "after 1000 stages");
}

}  // namespace
}  // namespace ladon::test::smc_test
