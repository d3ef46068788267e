// Diagnostics of chains, compared with closed forms and with numbers of another program, and cases
// in which they are undefined.

#include "ladon/optim/samplers/chains.h"

#include <limits>
#include <numeric>

#include "ladon/tests/optim/samplers/densities.h"

namespace ladon::test::chains_test {
namespace {

template <class F>
Tensor made(std::int64_t chains, std::int64_t draws, const F& f) {
  Tensor x = empty({chains, draws}, f64);
  for (std::int64_t c = 0; c < chains; ++c)
    for (std::int64_t s = 0; s < draws; ++s)
      x.mutable_data<double>()[c * draws + s] = f(double(c), double(s));
  return x;
}

/// x_s = ρ x_(s−1) + √(1 − ρ²) z, from its own distribution N(0, 1).
Tensor autoregressive(std::int64_t chains, std::int64_t draws, double rho, std::uint64_t seed) {
  Tensor x = gaussian({chains, draws}, seed);
  double* v = x.mutable_data<double>();
  for (std::int64_t c = 0; c < chains; ++c)
    for (std::int64_t s = 1; s < draws; ++s)
      v[c * draws + s] = rho * v[c * draws + s - 1] + std::sqrt(1 - rho * rho) * v[c * draws + s];
  return x;
}

// Chains (1, 2, 3, 4) and (2, 4, 6, 8): halves of variances ½, ½, 2, 2 about 1½, 3½, 3, 7. W = 5/4,
// B = 65/12, var⁺ = ½·5/4 + 65/12 = 145/24, R̂ = √(29/6).
TEST(SplitRhat, IsItsFormula) {
  const Tensor x = tensor({1, 2, 3, 4, 2, 4, 6, 8}, {2, 4}, f64);
  EXPECT_NEAR(split_rhat(x, ChainScale::values).item(), std::sqrt(29.0 / 6), 1e-14);
  // of five draws the middle one does not count
  const Tensor y = tensor({1, 2, -9, 3, 4, 2, 4, 99, 6, 8}, {2, 5}, f32);
  EXPECT_NEAR(split_rhat(y, ChainScale::values).item(), std::sqrt(29.0 / 6), 1e-14);
}

// The figures of a program of its own, written after Vehtari et al. 2021 with Python's
// statistics.NormalDist. The sums over pairs of the first series, 1.89, 1.21, .50, .38, .69, .79,
// .44, −.00, rise in between, and the last even autocorrelation is positive.
TEST(ChainDiagnostics, AgreeWithAnotherProgram) {
  const Tensor waves = made(2, 61, [](double c, double s) {
    return std::cos(0.12 * s + c) + 0.7 * std::cos(0.6 * s + 2 * c);
  });
  EXPECT_NEAR(split_rhat(waves, ChainScale::values).item(), 1.1577790152486176, 1e-12);
  EXPECT_NEAR(split_rhat(waves).item(), 1.1405263267581487, 1e-12);
  EXPECT_NEAR(effective_sample_size(waves, ChainScale::values).item(), 12.969683075596922, 1e-10);
  EXPECT_NEAR(effective_sample_size(waves).item(), 13.775005205540147, 1e-10);
  const auto noise = [](double c, double s) {
    return std::sin((c + 1) * s * s) + 0.8 * std::cos(0.3 * s + c);
  };
  const Tensor noisy = made(3, 41, noise);
  EXPECT_NEAR(chain_mean(noisy).value, -0.11953287038953227, 1e-13);
  EXPECT_NEAR(chain_mean(noisy).se, 0.11984316244396663, 1e-13);
  // one chain six times as wide: the means agree, and only the folded ranks tell
  const Tensor wide =
      made(3, 41, [&](double c, double s) { return noise(c, s) * (c == 2 ? 6 : 1); });
  EXPECT_NEAR(split_rhat(wide, ChainScale::values).item(), 0.9925606793288635, 1e-12);
  EXPECT_NEAR(split_rhat(wide).item(), 1.3291472602322951, 1e-12);
}

TEST(SplitRhat, TellsChainsThatDiffer) {
  const Tensor same = gaussian({4, 1000}, 1);
  EXPECT_LT(split_rhat(same).item(), 1.01);
  const Tensor shift = tensor({0, 0, 0, 1.5}, {4, 1}, f64),
               scale = tensor({1, 1, 1, 3}, {4, 1}, f64);
  EXPECT_GT(split_rhat(same + shift).item(), 1.1);
  EXPECT_LT(split_rhat(same * scale, ChainScale::values).item(), 1.01);
  EXPECT_GT(split_rhat(same * scale).item(), 1.05);
  // halves of one chain that drifts
  EXPECT_GT(split_rhat(made(1, 400, [](double, double s) { return s; })).item(), 1.5);
}

// τ = 1 + 2 Σ ρ^t = (1 + ρ)/(1 − ρ). The sum over some m lags of n draws has relative standard
// error √(2(2m + 1)/n) or less: 0.03 for m = 20.
TEST(EffectiveSampleSize, OfAnAutoregressionIsItsClosedForm) {
  for (const double rho : {0.7, 0.3, -0.5}) {
    const Tensor x = autoregressive(4, 25'000, rho, 2);
    const double expected = (1 - rho) / (1 + rho);
    EXPECT_NEAR(effective_sample_size(x, ChainScale::values).item() / 1e5 / expected, 1, 0.12);
    EXPECT_NEAR(effective_sample_size(x).item() / 1e5 / expected, 1, 0.12);
    const Tensor r = mean(autocorrelation(x, 3), 0);
    // Bartlett: the standard error of an autocorrelation is at most √((1 + ρ²)/(1 − ρ²)/n)
    expect_values(r, {1, rho, rho * rho, rho * rho * rho}, 0.03);
  }
}

/// Of the values, with every sum over a lag written out.
double plain_ess(const Tensor& draws) {
  const std::int64_t chains = draws.size(0), n = draws.size(1) / 2, count = 2 * chains;
  std::vector<double> x = draws.to_vector(), means;  // an even number of draws: half h from h·n
  double within = 0, between = 0;
  for (std::int64_t h = 0; h < count; ++h) {
    const auto half = x.begin() + h * n;
    means.push_back(std::accumulate(half, half + n, 0.0) / double(n));
    for (auto v = half; v != half + n; ++v) {
      *v -= means.back();
      within += *v * *v / double(count * (n - 1));
    }
  }
  const double centre = std::accumulate(means.begin(), means.end(), 0.0) / double(count);
  for (const double m : means) between += (m - centre) * (m - centre) / double(count - 1);
  const double total = double(n - 1) / double(n) * within + between;
  const auto rho = [&](std::int64_t lag) {
    double products = 0;
    for (std::int64_t h = 0; h < count; ++h)
      for (std::int64_t s = h * n; s + lag < (h + 1) * n; ++s) products += x[s] * x[s + lag];
    return lag == 0 ? 1 : 1 - (within - products / double(count * n)) / total;
  };
  double tau = -1, lowest = HUGE_VAL;
  for (std::int64_t lag = 0; lag + 1 < n; lag += 2) {
    const double pair = rho(lag) + rho(lag + 1);
    if (!(pair > 0)) return double(count * n) / (tau + std::max(0.0, rho(lag)));
    lowest = std::min(lowest, pair);
    tau += 2 * lowest;
  }
  return double(count * n) / tau;
}

// Slow chains take sums over many lags, which come from a Fourier transform; lengths around a power
// of two.
TEST(EffectiveSampleSize, OfSlowChainsIsThatOfPlainSums) {
  for (const std::int64_t draws : {8, 62, 254, 256, 258, 1000})
    for (const double rho : {0.9, 0.999}) {
      const Tensor x = autoregressive(3, draws, rho, 5);
      const double exact = plain_ess(x);
      EXPECT_NEAR(effective_sample_size(x, ChainScale::values).item(), exact, 1e-12 * exact)
          << draws << " draws, ρ " << rho;
    }
}

// The standard error of a mean, by how means of repetitions differ: 200 of them give a variance to
// √(2/199) = 10% (4 of these).
TEST(ChainMean, HasTheErrorThatRepetitionsShow) {
  double squares = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Measured m = chain_mean(autoregressive(2, 500, 0.6, 10 + seed));
    squares += m.value * m.value / (m.se * m.se) / 200;
  }
  EXPECT_NEAR(squares, 1, 0.4);
}

// Powers of two, so that every bit is that of draws of size 1.
TEST(ChainDiagnostics, DoNotDependOnTheScale) {
  const Tensor x = autoregressive(4, 500, 0.7, 3) + 0.3;
  const auto scaled = [&](int exponent) {  // 2^±1074 is more than one factor can be
    return x * std::ldexp(1, exponent / 2) * std::ldexp(1, exponent - exponent / 2);
  };
  const Measured one = chain_mean(x);
  for (const int exponent : {-1000, -570, -100, 0, 100, 520, 1000}) {
    SCOPED_TRACE(exponent);
    const Tensor y = scaled(exponent);
    for (const ChainScale scale : {ChainScale::ranks, ChainScale::values}) {
      EXPECT_EQ(effective_sample_size(y, scale).item(), effective_sample_size(x, scale).item());
      EXPECT_EQ(split_rhat(y, scale).item(), split_rhat(x, scale).item());
    }
    EXPECT_EQ(autocorrelation(y, 5).to_vector(), autocorrelation(x, 5).to_vector());
    EXPECT_EQ(chain_mean(y).value, std::ldexp(one.value, exponent));
    EXPECT_EQ(chain_mean(y).se, std::ldexp(one.se, exponent));
  }
}

TEST(ChainDiagnostics, TakeSeveralNumbers) {
  const Tensor x = gaussian({2, 40, 3}, 3);
  const Tensor r = split_rhat(x), e = effective_sample_size(x), a = autocorrelation(x, 5);
  ASSERT_EQ(r.shape(), Shape({3}));
  ASSERT_EQ(e.shape(), Shape({3}));
  ASSERT_EQ(a.shape(), Shape({2, 6, 3}));
  for (std::int64_t d = 0; d < 3; ++d) {
    EXPECT_EQ(select(r, 0, d).item(), split_rhat(number(x, d)).item());
    EXPECT_EQ(select(e, 0, d).item(), effective_sample_size(number(x, d)).item());
    EXPECT_TRUE(same_bits(contiguous(number(a, d)), autocorrelation(number(x, d), 5)));
  }
}

TEST(ChainDiagnostics, SayNaNWhereThereIsNothingToTell) {
  const double inf = std::numeric_limits<double>::infinity();
  Tensor broken = gaussian({2, 10}, 1);
  broken.mutable_data<double>()[3] = inf;
  for (const Tensor& x : {ones({3, 20}, f64), gaussian({4, 3}), zeros({1, 0}, f64), broken}) {
    EXPECT_TRUE(std::isnan(split_rhat(x).item()));
    EXPECT_TRUE(std::isnan(split_rhat(x, ChainScale::values).item()));
    EXPECT_TRUE(std::isnan(effective_sample_size(x).item()));
    EXPECT_TRUE(std::isnan(chain_mean(x).se));
  }
  EXPECT_EQ(chain_mean(ones({3, 20}, f64)).value, 1);
  EXPECT_TRUE(std::isnan(autocorrelation(ones({1, 5}, f64), 1).to_vector()[1]));
  // chains that stand still, each elsewhere
  EXPECT_EQ(split_rhat(made(2, 10, [](double c, double) { return c; })).item(), inf);
  // an effective sample size is at most n·log₁₀ n, also of draws that alternate
  const Tensor alternating = made(1, 1000, [](double, double s) { return int(s) % 2; });
  EXPECT_NEAR(effective_sample_size(alternating, ChainScale::values).item(), 3000, 1e-9);
}

TEST(ChainDiagnostics, RefuseOtherShapes) {
  expect_error([] { split_rhat(ones({5}, f64)); }, "must be [C, S, D] or [C, S]");
  expect_error([] { split_rhat(Tensor()); }, "[split_rhat]");
  expect_error([] { effective_sample_size(ones({0, 5, 2}, f64)); }, "at least one chain");
  expect_error([] { effective_sample_size(ones({2, 5, 0}, f64)); }, "[effective_sample_size]");
  expect_error([] { split_rhat(ones({2, 5}, i64)); }, "[split_rhat]");
  expect_error([] { chain_mean(ones({2, 5, 1}, f64)); }, "must be [C, S]");
  expect_error([] { autocorrelation(ones({2, 5}, f64), 5); }, "less than the number of draws, 5");
  expect_error([] { autocorrelation(ones({2, 5}, f64), -1); }, "at least 0");
}

}  // namespace
}  // namespace ladon::test::chains_test
