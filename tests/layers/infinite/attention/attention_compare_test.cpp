// The claim of Hron et al. 2020, "Infinite attention": with linear scaling one wide head becomes a
// Gaussian process; with square-root scaling only many heads do.

#include <cmath>

#include "ladon/layers/infinite/finite/compare.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::attention_compare_test {
namespace {

using namespace infinite;

constexpr std::int64_t channels = 5;

Tensor tokens() {
  Generator rng(4);
  return normal({2, 3, channels}, rng, 0, 1, f64);
}

/// Attention with identity ζ; with linear scaling queries and keys are tied.
struct Attention {
  AttentionScaling scaling;
  std::int64_t out = 0;  ///< 0: as wide as a head

  std::unique_ptr<Layer> operator()(const NetworkSize& size, Generator& rng) const {
    return std::make_unique<MultiHeadAttention>(
        MultiHeadAttentionOptions{.dim = channels,
                                  .heads = size.heads,
                                  .head_dim = size.width,
                                  .bias = false,
                                  .out = out > 0 ? out : size.width,
                                  .form = {.scaling = scaling,
                                           .weighting = Weighting::identity,
                                           .tied = scaling == AttentionScaling::linear},
                                  .prior = {.parameterization = Parameterization::ntk}},
        rng);
  }
};

/// The law for width-d heads, averaged over inputs.
double law(std::int64_t heads, double width) {
  double total = 0;
  for (std::int64_t n = 0; n < 2; ++n) {
    const Tensor x = select(tokens(), 0, n), k = matmul(x, transpose(x));
    total += identity_kurtosis(k, k, {.heads = heads, .key_width = width, .value_width = width});
  }
  return total / 2;
}

infinite::CompareOptions outputs_only() {
  infinite::CompareOptions options;
  options.networks.kernel.get = Get::nngp;
  options.networks.dtype = f32;
  return options;
}

TEST(AttentionCompare, KurtosisFollowsTheSixOverHeadsLaw) {
  constexpr std::int64_t width = 48;
  Generator rng(5);
  std::vector<SweepPoint> sweep;
  for (const std::int64_t heads : {1, 2, 4, 8, 16})
    sweep.push_back({{.heads = heads, .width = width}, 2000});
  const Comparison c =
      compare(Attention{AttentionScaling::sqrt, 12}, tokens(), sweep, outputs_only(), rng);
  for (const ComparisonRow& row : c.rows) {
    const Measured k = row.gaussianity.kurtosis;
    const std::int64_t heads = row.point.size.heads;
    EXPECT_LT(std::abs(k.value - law(heads, width)), 3 * k.se) << heads << " heads: " << k.value;
    EXPECT_GT(k.value, 4 * k.se) << heads;
    EXPECT_LT(row.nngp.largest_z, 4) << heads;  // the covariance is right for any number of heads
    if (heads > 1) {  // the law is not met by accident: that of half as many heads is not
      EXPECT_GT(std::abs(k.value - law(heads / 2, width)), 3 * k.se);
    }
  }
  // One head is refused as a Gaussian, sixteen much less.
  const auto &one = c.rows.front().gaussianity, &many = c.rows.back().gaussianity;
  EXPECT_LT(one.kolmogorov_smirnov.p_value, 1e-6);
  EXPECT_GT(one.mmd.squared, 8 * one.mmd.null_sd);
  EXPECT_LT(many.kolmogorov_smirnov.distance, one.kolmogorov_smirnov.distance / 4);
  EXPECT_LT(many.mmd.squared, 5 * many.mmd.null_sd);
}

TEST(AttentionCompare, OneHeadOfSqrtScalingDoesNotConverge) {
  Generator rng(6);
  infinite::CompareOptions options;
  options.networks.kernel.channels = 1;
  const auto run = [&](AttentionScaling scaling, std::int64_t heads_per_root) {
    std::vector<SweepPoint> sweep;
    for (const std::int64_t root : {4, 8, 16})
      sweep.push_back(
          {{.heads = std::max<std::int64_t>(1, root * heads_per_root), .width = root * root}, 100});
    return compare(Attention{scaling}, tokens(), sweep, options, rng);
  };
  // The negative control: sixteen times the width brings one head no nearer, in either kernel.
  const Comparison one = run(AttentionScaling::sqrt, 0);
  for (const Slope& s : {one.nngp_slope, one.ntk_slope}) {
    EXPECT_LT(std::abs(s.slope.value), 0.15);
    EXPECT_GT(s.slope.value - 4 * s.slope.se, -0.5);
  }
  EXPECT_GT(one.rows.back().ntk.single_error.value, 0.3);
  // sqrt(w) heads: the error falls like 1/sqrt(H) = w^(−1/4).
  const Comparison many = run(AttentionScaling::sqrt, 1);
  EXPECT_NEAR(many.ntk_slope.slope.value, -0.25, 0.12);
  EXPECT_LT(many.ntk_slope.slope.value + 4 * many.ntk_slope.slope.se, 0);
  EXPECT_LT(many.rows.back().ntk.largest_z, 4);
  // Linear scaling: one head is enough.
  const Comparison linear = run(AttentionScaling::linear, 0);
  EXPECT_LT(linear.ntk_slope.slope.value, -0.35);
  EXPECT_LT(linear.nngp_slope.slope.value, -0.35);
  EXPECT_LT(linear.rows.back().ntk.single_error.value, one.rows.back().ntk.single_error.value / 2);
}

TEST(AttentionCompare, OneWideHeadOfLinearScalingIsGaussian) {
  Generator rng(7);
  const Comparison c =
      compare(Attention{AttentionScaling::linear, 4}, tokens(),
              {{{.heads = 1, .width = 16}, 1500}, {{.heads = 1, .width = 1024}, 1500}},
              outputs_only(), rng);
  const Measured narrow = c.rows[0].gaussianity.kurtosis, wide = c.rows[1].gaussianity.kurtosis;
  EXPECT_GT(narrow.value, 4 * narrow.se);
  EXPECT_LT(wide.value, 0.05 + 3 * wide.se);
  EXPECT_LT(wide.value, law(1, 1024) / 20);  // what sqrt scaling would have
  EXPECT_GT(c.rows[1].gaussianity.kolmogorov_smirnov.p_value, 1e-3);
  EXPECT_LT(c.rows[1].gaussianity.mmd.squared, 5 * c.rows[1].gaussianity.mmd.null_sd);
  EXPECT_LT(c.rows[1].nngp.largest_z, 4);
}

}  // namespace
}  // namespace ladon::attention_compare_test
