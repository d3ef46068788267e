#include "ladon/layers/infinite/finite/compare.h"

#include <cmath>

#include "ladon/core/machine/parallel.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::compare_test {
namespace {

using namespace infinite;
using test::gaussian;

TEST(FitSlope, IsExactOnALineAndWeighsErrors) {
  const Slope line = fit_slope({4, 16, 64}, {{2, 0.2}, {1, 0.05}, {0.5, 0.1}});
  EXPECT_NEAR(line.slope.value, -0.5, 1e-12);
  EXPECT_NEAR(line.intercept, std::log(4), 1e-12);
  // Weights (value/se)² = 100, 400, 25 on log widths: by hand.
  const double x[] = {std::log(4), std::log(16), std::log(64)}, w[] = {100, 400, 25};
  double mean = 0, xx = 0;
  for (int i = 0; i < 3; ++i) mean += w[i] * x[i] / 525;
  for (int i = 0; i < 3; ++i) xx += w[i] * (x[i] - mean) * (x[i] - mean);
  EXPECT_NEAR(line.slope.se, 1 / std::sqrt(xx), 1e-12);
  EXPECT_TRUE(std::isnan(fit_slope({8, 8}, {{1, 0.1}, {1, 0.1}}).slope.value));
  EXPECT_TRUE(std::isnan(fit_slope({8}, {{1, 0.1}}).slope.value));
  EXPECT_NEAR(fit_slope({1, 4}, {{1, 0}, {0.5, 0}}).slope.value, -0.5, 1e-12);
}

std::unique_ptr<Layer> linear_network(const NetworkSize& size, Generator& rng) {
  constexpr auto ntk = Parameterization::ntk;
  return std::make_unique<Sequential>(
      Linear({.in = 3, .out = size.width, .parameterization = ntk, .bias_std = 0.4}, rng),
      Linear({.in = size.width, .out = size.width, .parameterization = ntk}, rng));
}

TEST(Compare, LinearNetworksConvergeLikeTheRootOfWidth) {
  const Tensor x = gaussian({3, 3}, 1);
  int told = 0;
  Generator rng(2);
  infinite::CompareOptions options;
  options.networks.kernel.channels = 2;
  options.progress = [&](const SweepPoint&) { ++told; };
  const Comparison c = compare(linear_network, x,
                               {{.size = {.width = 8}, .draws = 200},
                                {.size = {.width = 32}, .draws = 200},
                                {.size = {.width = 128}, .draws = 100}},
                               options, rng);
  ASSERT_EQ(c.rows.size(), 3u);
  EXPECT_EQ(told, 500);
  for (const ComparisonRow& row : c.rows) {
    EXPECT_LT(row.nngp.largest_z, 4);
    EXPECT_LT(row.ntk.largest_z, 4);
    EXPECT_LT(row.nngp.rms_z, 2.5);
    EXPECT_LT(row.nngp.mean_error, row.nngp.single_error.value);
    EXPECT_EQ(row.parameters,
              4 * row.point.size.width + row.point.size.width * row.point.size.width);
  }
  for (const Slope& slope : {c.nngp_slope, c.ntk_slope})
    EXPECT_LT(std::abs(slope.slope.value + 0.5), 4 * slope.slope.se);
  EXPECT_LT(c.ntk_slope.slope.se, 0.05);
  EXPECT_EQ(c.rows[0].outputs.shape(), (Shape{200, 3, 8}));
  // Products of two Gaussians over 128 channels: 3·((1 + 2/128) − 1), less the bias's share.
  EXPECT_LT(c.rows[2].gaussianity.kurtosis.value, 0.2);
  EXPECT_GT(c.rows[0].gaussianity.kurtosis.value, 4 * c.rows[0].gaussianity.kurtosis.se);
}

// A limit that is a mean over draws has an error of its own, which counts beside that of the
// networks.
TEST(Compare, CountsTheErrorOfALimitOverDraws) {
  const auto make = [](const NetworkSize& size, Generator& rng) -> std::unique_ptr<Layer> {
    return std::make_unique<Sequential>(
        MultiHeadAttention({.dim = 3,
                            .heads = 2,
                            .head_dim = size.width,
                            .out = 4,
                            .prior = {.parameterization = Parameterization::ntk},
                            .limit_draws = {.samples = 2}},
                           rng),
        MeanPositions());
  };
  const Tensor x = gaussian({2, 3, 3}, 1);
  const NetworkSize size{.width = 4};
  Generator rng(3), same(3);
  const auto row =
      compare(make, x, {{.size = size, .draws = 5}}, {.limit = {.replicates = 2}}, rng).rows[0];
  const MonteCarloKernel networks =
      monte_carlo_kernel([&](Generator& own) { return make(size, own); }, x, x, {.draws = 5}, same);
  const Gram drawn = gram(limit(*make(size, rng)), x, {.replicates = 2});
  const auto both = [](const Tensor& a, const Tensor& b) { return sqrt(square(a) + square(b)); };
  EXPECT_GT(amax(drawn.nngp_se / networks.nngp_se).item(), 0.1);
  EXPECT_TRUE(all_close(row.nngp.se, both(networks.nngp_se, drawn.nngp_se), 1e-12, 0));
  EXPECT_TRUE(all_close(row.ntk.se, both(networks.ntk_se, drawn.ntk_se), 1e-12, 0));
}

TEST(Compare, IsTheSameAtAnyNumberOfThreads) {
  const Tensor x = gaussian({2, 3}, 1);
  const auto with_threads = [&](int n) {
    const int before = num_threads();
    set_num_threads(n);
    Generator rng(9);
    const auto c = compare(linear_network, x, {{.size = {.width = 8}, .draws = 50}}, rng);
    set_num_threads(before);
    return c.rows[0];
  };
  const auto one = with_threads(1), three = with_threads(3);
  EXPECT_TRUE(all_equal(one.ntk.mean, three.ntk.mean));
  EXPECT_TRUE(all_equal(one.nngp.se, three.nngp.se));
  EXPECT_TRUE(all_equal(one.outputs, three.outputs));
  EXPECT_EQ(one.ntk.single_error.value, three.ntk.single_error.value);
  EXPECT_EQ(one.gaussianity.kurtosis.se, three.gaussianity.kurtosis.se);
}

TEST(Compare, SaysWhatIsWrong) {
  const Tensor x = gaussian({2, 3}, 1);
  Generator rng(1);
  test::expect_error([&] { compare(linear_network, x, {}, rng); }, "no points");
  test::expect_error([&] { compare(linear_network, x, {{.size = {.width = 4}, .draws = 2}}, rng); },
                     "3 draws");
  infinite::CompareOptions full;
  full.networks.kernel.full = true;
  test::expect_error([&] { compare(linear_network, x, {{.size = {.width = 4}}}, full, rng); },
                     "full");
}

// Every figure is of visible positions alone: more padding changes none of them.
TEST(Compare, PaddingDoesNotCount) {
  const auto figures = [](std::int64_t padding, bool mask_all) {
    const Tensor x = concat({gaussian({2, 3, 3}, 5), zeros({2, padding, 3}, f64)}, 1);
    Tensor mask = ones({2, 3 + padding}, boolean);
    for (std::int64_t n = 0; n < 2; ++n)
      for (std::int64_t t = mask_all ? 0 : 3 - n; t < 3 + padding; ++t)
        mask.mutable_data<bool>()[n * (3 + padding) + t] = false;
    Generator rng(2);
    const Comparison c =
        compare(linear_network, Inputs(x, mask),
                {{.size = {.width = 8}, .draws = 20}, {.size = {.width = 16}, .draws = 20}}, rng);
    std::vector<double> all = {c.nngp_slope.slope.value, c.ntk_slope.slope.value};
    for (const ComparisonRow& row : c.rows) {
      EXPECT_EQ(row.outputs.size(1), 5);
      for (const Agreement* a : {&row.nngp, &row.ntk})
        all.insert(all.end(), {a->largest_z, a->rms_z, a->mean_error, a->single_error.value,
                               a->single_error.se});
      const Gaussianity& g = row.gaussianity;
      all.insert(all.end(), {g.kurtosis.value, g.kurtosis.se, g.kolmogorov_smirnov.distance,
                             g.kolmogorov_smirnov.p_value, g.mmd.squared, g.mmd.null_sd});
    }
    return all;
  };
  const std::vector<double> few = figures(0, false), many = figures(7, false);
  for (std::size_t i = 0; i < few.size(); ++i)
    EXPECT_NEAR(many[i], few[i], 1e-6 * (1 + std::abs(few[i]))) << "figure " << i;
  EXPECT_THROW(figures(0, true), Error);
}

}  // namespace
}  // namespace ladon::compare_test
