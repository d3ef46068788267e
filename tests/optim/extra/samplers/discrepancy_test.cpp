#include "ladon/optim/extra/diagnostics/discrepancy.h"

#include <cmath>
#include <limits>

#include "ladon/core/machine/parallel.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::discrepancy_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const DiscrepancyKernel both_kernels[] = {DiscrepancyKernel::imq, DiscrepancyKernel::rbf};

/// Mean, standard error of the mean and standard deviation of a list.
struct Moments {
  explicit Moments(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    for (const double x : values) mean += x / n;
    for (const double x : values) sd += (x - mean) * (x - mean) / (n - 1);
    sd = std::sqrt(sd);
    se = sd / std::sqrt(n);
  }
  double mean = 0, sd = 0, se;
};

/// SVGD's φ at y, of particles x with scores s and the kernel with that h²: y joins the particles
/// with score 0, so that it adds nothing of its own; M + 1 of them divide by M + 1.
std::vector<double> phi(const Tensor& x, const Tensor& s, const Tensor& y, DiscrepancyKernel kernel,
                        double h2) {
  const BandwidthOptions fixed{.bandwidth = Bandwidth::fixed, .h2 = h2};
  const Tensor all = concat({x, y}, 0), g = concat({-s, zeros_like(y)}, 0);
  const SvgdOptions options{.kernel = kernel == DiscrepancyKernel::imq ? imq(fixed) : rbf(fixed),
                            .max_ratio = infinity};
  const auto m = static_cast<double>(x.size(0));
  return (select(rewritten<Svgd>(all, g, options), 0, -1) * (-(m + 1) / m)).to_vector();
}

// The definition of the discrepancy: what the direction φ of SVGD gains, mean_i [s_i·φ(x_i) + div
// φ(x_i)].
TEST(Ksd, IsTheGainOfSvgdsDirection) {
  const std::int64_t m = 5, d = 3;
  const Tensor x = gaussian({m, d}, 1), s = gaussian({m, d}, 2);
  const double h2 = 1.7, step = 1e-5;
  for (const DiscrepancyKernel kernel : both_kernels) {
    double gain = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      const Tensor at = slice(x, 0, {.start = i, .stop = i + 1});
      const auto score = select(s, 0, i).to_vector(), here = phi(x, s, at, kernel, h2);
      for (std::int64_t c = 0; c < d; ++c) {
        const Tensor along = step * slice(eye(d, f64), 0, {.start = c, .stop = c + 1});
        const double slope =
            (phi(x, s, at + along, kernel, h2)[c] - phi(x, s, at - along, kernel, h2)[c]) /
            (2 * step);
        gain += (score[c] * here[c] + slope) / double(m);
      }
    }
    EXPECT_NEAR(ksd(x, s, {.kernel = kernel, .h2 = h2}).v, gain, 1e-9);
    EXPECT_GT(gain, 0.1);
  }
}

// Of one point only the diagonal is left: |s|² + tr ∇∇ᵀk = |s|² + D/h², as κ′(0) = −½ of both
// kernels.
TEST(Ksd, OfOnePointHasAClosedForm) {
  const Tensor x = tensor({1, -2}, {1, 2}, f64);
  for (const DiscrepancyKernel kernel : both_kernels) {
    const SteinDiscrepancy one = ksd(x, -x, {.kernel = kernel, .h2 = 0.5});
    EXPECT_NEAR(one.v, 5 + 2 / 0.5, 1e-14);
    EXPECT_TRUE(std::isnan(one.u) && std::isnan(one.se) && std::isnan(one.null_sd));
  }
}

// Two points of N(0, 1) under rbf: u_12 = k·[s_1·s_2 + (Δx·Δs + 1)/h² − Δx²/h⁴]. At 0 and 2 with h²
// = 2: s = −x, k = e^−1, u_12 = e^−1·[0 + (−4 + 1)/2 − 4/4] = −2.5/e; u_11 = ½, u_22 = 4.5.
TEST(Ksd, OfTwoPointsHasAClosedForm) {
  const Tensor x = tensor({0, 2}, {2, 1}, f32);
  const SteinDiscrepancy two = ksd(x, -x, {.kernel = DiscrepancyKernel::rbf, .h2 = 2});
  const double between = -2.5 * std::exp(-1.0);
  EXPECT_NEAR(two.u, between, 1e-15);
  EXPECT_NEAR(two.v, (0.5 + 4.5 + 2 * between) / 4, 1e-15);
  EXPECT_NEAR(two.null_sd, -between, 1e-15);
  EXPECT_TRUE(std::isnan(two.se));
  // The median of one distance is that distance.
  EXPECT_NEAR(ksd(x, -x).h2, 4, 1e-14);
}

// Samples of N(μ, I) against N(0, I): the scores differ by −μ everywhere, so E u = |μ|²·E k, and
// under rbf E k = (1 + 2/h²)^(−D/2), as x − y ~ N(0, 2I). At μ = 0 it is 0.
TEST(Ksd, IsUnbiasedAndKnowsItsError) {
  const std::int64_t m = 30, d = 3, repeats = 400;
  const double h2 = 2;
  for (const double shift : {0.0, 0.5}) {
    Generator rng(3);
    std::vector<double> u, variance, null_variance;
    for (std::int64_t r = 0; r < repeats; ++r) {
      const Tensor x = normal({m, d}, rng, shift, 1, f64);
      const SteinDiscrepancy s = ksd(x, -x, {.kernel = DiscrepancyKernel::rbf, .h2 = h2});
      u.push_back(s.u);
      variance.push_back(s.se * s.se);
      null_variance.push_back(s.null_sd * s.null_sd);
    }
    const Moments found(u);
    const double expected = shift * shift * double(d) * std::pow(1 + 2 / h2, -double(d) / 2);
    EXPECT_LT(std::abs(found.mean - expected), 4 * found.se) << shift;
    // A standard deviation of 400 values has a relative error of some 5%. The jackknife counts the
    // part of the variance that is of second order twice: all of it where μ = 0 (Efron and Stein
    // 1981).
    const double jackknife = std::sqrt(Moments(variance).mean) / found.sd;
    if (shift == 0) {
      EXPECT_NEAR(std::sqrt(Moments(null_variance).mean) / found.sd, 1, 0.2);
      EXPECT_NEAR(jackknife, std::sqrt(2 * double(m - 1) / double(m - 2)), 0.25);
    } else {
      EXPECT_GT(jackknife, 0.85);
      EXPECT_LT(jackknife, 1.35);
      EXPECT_GT(expected, 10 * found.se);  // else 0 would pass
    }
  }
}

// The error is that of Efron's jackknife: of the estimates that leave out one sample each.
TEST(Ksd, HasTheErrorOfItsEstimatesWithoutASample) {
  constexpr std::int64_t m = 6;
  Generator rng(4);
  const Tensor x = normal({m, 2}, rng, 0, 1, f64), score = normal({m, 2}, rng, 0, 1, f64);
  for (const DiscrepancyKernel kernel : {DiscrepancyKernel::imq, DiscrepancyKernel::rbf}) {
    const DiscrepancyOptions options{.kernel = kernel, .h2 = 1.5};
    std::vector<double> left_out;
    for (std::int64_t i = 0; i < m; ++i) {
      std::vector<std::int64_t> others;
      for (std::int64_t j = 0; j < m; ++j)
        if (j != i) others.push_back(j);
      const Tensor rows = from_vector(others, {m - 1});
      left_out.push_back(ksd(index_select(x, 0, rows), index_select(score, 0, rows), options).u);
    }
    const Tensor u = from_vector(left_out, {m});
    const SteinDiscrepancy all = ksd(x, score, options);
    EXPECT_NEAR(mean(u).item(), all.u, 1e-12);
    EXPECT_NEAR(all.se, std::sqrt(double(m - 1) / m * sum(square(u - mean(u))).item()), 1e-12);
  }
}

TEST(Ksd, TellsExactSamplesFromDisplacedOnes) {
  Generator rng(4);
  const Tensor x = normal({300, 5}, rng, 0, 1, f64);
  const LogDensity p(5, [](const Tensor& theta) { return -0.5 * sum(square(theta), 1); });
  const SteinDiscrepancy right = ksd(x, p), moved = ksd(x + 0.5, p), narrow = ksd(0.7 * x, p);
  EXPECT_LT(std::abs(right.u), 4 * right.null_sd);
  EXPECT_GT(moved.u, 5 * moved.se);
  EXPECT_GT(narrow.u, 5 * narrow.se);
  EXPECT_EQ(right.u, ksd(x, -x).u);
}

TEST(Ksd, HasTheSameBitsAtAnyNumberOfThreads) {
  const Tensor x = gaussian({157, 4}), s = gaussian({157, 4}, 2);
  const int before = num_threads();
  set_num_threads(1);
  const SteinDiscrepancy one = ksd(x, s);
  Generator rng(1), again(1);
  const double p = mmd_p_value(x, s, 50, rng);
  set_num_threads(5);
  EXPECT_EQ(ksd(x, s).v, one.v);
  EXPECT_EQ(ksd(x, s).se, one.se);
  EXPECT_EQ(mmd_p_value(x, s, 50, again), p);
  set_num_threads(before);
}

TEST(Ksd, RefusesBadInput) {
  const Tensor x = gaussian({3, 2});
  expect_error([&] { ksd(x, zeros({3, 1}, f64)); }, "differ in shape");
  expect_error([&] { ksd(zeros({3}), x); }, "got f32 [3]");
  expect_error([&] { ksd(Tensor(), x); }, "samples must be floating [M, D]");
  expect_error(
      [&] {
        ksd(x, full({3, 2}, std::nan(""), f64));
      },
      "scores must be finite, but row 0 has nan");
  expect_error([&] { ksd(x, x, {.h2 = 0}); }, "h² is 0");
  expect_error(
      [&] {
        ksd(zeros({1, 2}), zeros({1, 2}));
      },
      "of the 1 samples is 0, but must be positive; set h2");
  expect_error(
      [&] {
        ksd(zeros({4, 2}), zeros({4, 2}));
      },
      "of the 4 samples is 0, but must be positive; set h2");
}

double mean_kernel(const Tensor& x, const Tensor& y, double h2, bool diagonal) {
  double sum = 0, count = 0;
  for (std::int64_t i = 0; i < x.size(0); ++i)
    for (std::int64_t j = 0; j < y.size(0); ++j) {
      if (i == j && !diagonal) continue;
      const double d2 = ladon::sum(square(select(x, 0, i) - select(y, 0, j))).item();
      sum += 1 / std::sqrt(1 + d2 / h2);
      ++count;
    }
  return sum / count;
}

TEST(SampleMmd, IsItsDefinition) {
  const Tensor x = gaussian({4, 3}, 1), y = gaussian({3, 3}, 2) + 1;
  const double h2 = 0.8, between = 2 * mean_kernel(x, y, h2, true);
  const SampleMmd mmd = sample_mmd(x, y, {.h2 = h2});
  EXPECT_NEAR(mmd.biased, mean_kernel(x, x, h2, true) + mean_kernel(y, y, h2, true) - between,
              1e-14);
  EXPECT_NEAR(mmd.unbiased, mean_kernel(x, x, h2, false) + mean_kernel(y, y, h2, false) - between,
              1e-14);
  EXPECT_NEAR(sample_mmd(x, x).biased, 0, 1e-15);
  EXPECT_LT(sample_mmd(x, x).unbiased, 0);
  EXPECT_TRUE(std::isnan(sample_mmd(x, slice(y, 0, {.stop = 1})).unbiased));
  // Pairs of {0, 1} and {3}: squared distances 1, 9, 4.
  EXPECT_NEAR(sample_mmd(tensor({0, 1}, {2, 1}), tensor({3}, {1, 1})).h2, 4, 1e-14);
}

// Under rbf, of N(0, s²I) and N(μ1, t²I) in D dimensions: x − x′ ~ N(0, 2s²I), and so on, and of a
// Gaussian difference N(m, v·I) the kernel's mean is (1 + v/h²)^(−D/2)·exp(−|m|²/(2(h² + v))).
TEST(SampleMmd, IsUnbiasedBetweenGaussians) {
  const std::int64_t d = 2;
  const double s = 1, t = 1.5, shift = 0.4, h2 = 1.3;
  const auto mean_of = [&](double v, double m2) {
    return std::pow(1 + v / h2, -double(d) / 2) * std::exp(-m2 / (2 * (h2 + v)));
  };
  const double expected = mean_of(2 * s * s, 0) + mean_of(2 * t * t, 0) -
                          2 * mean_of(s * s + t * t, double(d) * shift * shift);
  Generator rng(5);
  std::vector<double> found;
  for (int r = 0; r < 400; ++r) {
    const Tensor x = normal({30, d}, rng, 0, s, f64), y = normal({20, d}, rng, shift, t, f64);
    found.push_back(sample_mmd(x, y, {.kernel = DiscrepancyKernel::rbf, .h2 = h2}).unbiased);
  }
  const Moments moments(found);
  EXPECT_LT(std::abs(moments.mean - expected), 4 * moments.se);
  EXPECT_GT(expected, 10 * moments.se);  // else 0 would pass
}

// Of 200 p-values under the null hypothesis, 99 deals each: P(p ≤ c) = c for c a multiple of 1/100.
TEST(MmdPValue, IsUniformWhereBothSetsAreOfOneLaw) {
  Generator rng(6);
  const int repeats = 200;
  int tenth = 0, half = 0;
  for (int r = 0; r < repeats; ++r) {
    const Tensor x = normal({12, 2}, rng, 0, 1, f64), y = normal({15, 2}, rng, 0, 1, f64);
    const double p = mmd_p_value(x, y, 99, rng);
    tenth += p <= 0.1;
    half += p <= 0.5;
  }
  EXPECT_NEAR(tenth, repeats * 0.1, 4 * std::sqrt(repeats * 0.1 * 0.9));
  EXPECT_NEAR(half, repeats * 0.5, 4 * std::sqrt(repeats * 0.5 * 0.5));
}

TEST(MmdPValue, IsSmallWhereLawsDiffer) {
  Generator rng(7);
  const Tensor x = normal({60, 2}, rng, 0, 1, f64);
  EXPECT_EQ(mmd_p_value(x, normal({60, 2}, rng, 1, 1, f64), 199, rng), 1.0 / 200);
  EXPECT_EQ(mmd_p_value(x, normal({60, 2}, rng, 0, 3, f64), 199, rng), 1.0 / 200);
  // Equal samples: every deal is as large as the observed one.
  EXPECT_EQ(mmd_p_value(ones({5, 2}), ones({4, 2}), 99, {.h2 = 1}, rng), 1);
}

TEST(MmdPValue, RefusesBadInput) {
  Generator rng(1);
  const Tensor x = gaussian({3, 2});
  expect_error([&] { mmd_p_value(x, x, 0, rng); }, "0 permutations");
  expect_error([&] { mmd_p_value(x, gaussian({1, 2}), 9, rng); }, "got 3 and 1");
  expect_error([&] { sample_mmd(x, gaussian({3, 1})); }, "differ in dimension");
}

}  // namespace
}  // namespace ladon::test::discrepancy_test
