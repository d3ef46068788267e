// Relevance of paths of heads through several layers: the saddle-point approximation, compared with
// the exact posterior, and with that of a single layer.

#include "ladon/optim/posterior/path_relevance.h"

#include <cmath>

#include "ladon/autograd/running_moments.h"
#include "ladon/optim/posterior/latent_posterior.h"
#include "ladon/optim/posterior/relevance.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::path_relevance_test {
namespace {

/// Features ξ_π [Π, N, d] of paths, and C_ππ′ = ξ_π·ξ_π′ᵀ/d.
Tensor kernels_of(const Tensor& features) {
  const Tensor c = matmul(unsqueeze(features, 1), transpose(unsqueeze(features, 0)));
  return c / static_cast<double>(features.size(2));
}
Tensor features(std::int64_t paths, std::int64_t n, std::uint64_t seed) {
  Generator rng(seed);
  return normal({paths, n, 3}, rng, 0, 1, f64);
}

// Paths that have nothing in common, a layer wide above: each head has its own scale, as in a layer
// on inputs as they are.
TEST(PathRelevance, OfOneLayerOfUncorrelatedHeadsIsThatOfHeads) {
  const Tensor x = features(3, 8, 1);
  std::vector<Tensor> heads;
  Tensor c = zeros({3, 3, 8, 8}, f64);
  for (int h = 0; h < 3; ++h) {
    const Tensor one = select(x, 0, h);
    heads.push_back(matmul(one, transpose(one)) / 3.0);
    copy_(select(select(c, 0, h), 0, h), heads.back());
  }
  Generator rng(2);
  const Tensor y = normal({8}, rng, 0, 1.5, f64);
  const PathOptions options{.heads = {3}, .widths = {20}, .readout = 1'000'000'000};
  const PathSaddle saddle = path_saddle(c, y, 0.2, options);
  EXPECT_LT(saddle.gradient, 1e-8);
  test::expect_near(clone(diagonal(saddle.order[0])),
                    relevance_saddle(stack(heads, 0), y, 0.2, 20).scales, 1e-6);
  EXPECT_NEAR(saddle.readout, 1, 1e-6);
}

/// Targets that one path of four makes.
struct TwoLayers {
  Tensor x = features(4, 16, 3), c = kernels_of(x);
  Tensor y = [this] {
    Generator rng(4);
    const Tensor added = normal({16}, rng, 0, 0.5, f64), map = normal({3, 1}, rng, 0, 1.2, f64);
    return flatten(matmul(select(x, 0, 1), map)) + added;
  }();
  double noise = 0.3;
  PathOptions of(std::int64_t width) const {
    return {.heads = {2, 2}, .widths = {width, width}, .readout = width};
  }
};

// The saddle is the exact posterior mean to 1/width; and it is not U = 1, nor that of another
// width.
TEST(PathRelevance, SaddleIsNearTheExactMean) {
  const TwoLayers two;
  const PathOptions options = two.of(48);
  const PathSaddle saddle = path_saddle(two.c, two.y, two.noise, options);
  EXPECT_LT(saddle.gradient, 1e-8);
  Generator rng(5);
  const LatentPosterior exact = sample_posterior(
      path_kernel(two.c, options), 16, slice(two.y, 0, {.stop = 15}),
      {.noise = two.noise, .smc = {.particles = 60, .sweeps = 3, .recorded = 3}, .replicates = 2},
      rng);
  const PathSaddle seen = path_saddle(two.c, slice(two.y, 0, {.stop = 15}), two.noise, options);
  RunningMoments order;
  const Tensor all = path_order(exact.latents, options);
  for (std::int64_t s = 0; s < all.size(0); ++s) order.add(select(all, 0, s));
  const Tensor error = seen.order[0] - order.mean();
  // 120 particles, not all independent: the error counts four times; and 4% of the saddle itself
  const Tensor allowed = 4 * 2 * order.standard_error() + 0.04 * abs(order.mean());
  EXPECT_LT(amax(abs(error) / allowed).item(), 1);
  EXPECT_GT(amax(diagonal(seen.order[0])).item(), 1.1);
}

TEST(PathRelevance, FindsThePathThatMadeTheTargets) {
  const TwoLayers two;
  double before = 100;
  for (const std::int64_t width : {8, 32, 128, 1'000'000}) {
    const PathOptions options = two.of(width);
    const PathSaddle saddle = path_saddle(two.c, two.y, two.noise, options);
    EXPECT_LT(saddle.gradient, 1e-7) << width;
    const auto u = clone(diagonal(saddle.order[0])).to_vector();
    for (const std::size_t other : {0, 2, 3}) EXPECT_GT(u[1], u[other]) << width;
    EXPECT_LT(u[1], before);
    before = u[1];
    if (width > 1000) continue;
    // The path takes head 0 of the first layer and head 1 of the second.
    const auto first = head_scores(saddle, options, 0).to_vector(),
               second = head_scores(saddle, options, 1).to_vector();
    EXPECT_GT(first[0], first[1]);
    EXPECT_GT(second[1], second[0]);
  }
  EXPECT_NEAR(before, 1, 1e-3);
}

// E U = 1 under the prior, whatever the widths: K is the Gaussian process's on average.
TEST(PathRelevance, IsTheGaussianProcessOnAverage) {
  const PathOptions options{.heads = {2, 3}, .widths = {7, 4}, .readout = 2};
  const Tensor c = kernels_of(features(6, 4, 6));
  const infinite::LatentKernel kernel = path_kernel(c, options);
  Generator rng(7);
  RunningMoments order, k;
  const Tensor z = normal({3000, kernel.dim}, rng, 0, 1, f64);
  const Tensor u = path_order(z, options), all = kernel.at(z, 4);
  for (std::int64_t s = 0; s < 3000; ++s) {
    order.add(select(u, 0, s));
    k.add(select(all, 0, s));
  }
  EXPECT_LT(amax(abs(order.mean() - eye(6, f64)) / order.standard_error()).item(), 5);
  Tensor mean_kernel = zeros({4, 4}, f64);
  for (int p = 0; p < 6; ++p) mean_kernel = mean_kernel + select(select(c, 0, p), 0, p) / 6.0;
  EXPECT_LT(amax(abs(k.mean() - mean_kernel) / k.standard_error()).item(), 5);
}

TEST(PathRelevance, RefusesWhatDoesNotFit) {
  const Tensor c = kernels_of(features(2, 3, 8)), y = ones({3}, f64);
  const PathOptions good{.heads = {2}, .widths = {4}, .readout = 3};
  test::expect_error([&] { path_kernel(c, {.heads = {2}, .widths = {}, .readout = 3}); },
                     "have sizes 1 and 0");
  test::expect_error([&] { path_kernel(c, {.heads = {2}, .widths = {1}, .readout = 3}); },
                     "an input of width 1 and 2 paths");
  test::expect_error([&] { path_kernel(c, {.heads = {3}, .widths = {4}, .readout = 3}); },
                     "must be [3, 3, N, N]");
  test::expect_error([&] { path_kernel(c * NAN, good); }, "finite");
  test::expect_error([&] { path_saddle(c, y, 0, good); }, "the noise is 0");
  test::expect_error([&] { path_saddle(c, ones({4}, f64), 1, good); },
                     "at most 3, the number of inputs");
  test::expect_error([&] { path_order(ones({1, 5}, f64), good); }, "must be [S, 11], got [1, 5]");
  const PathSaddle saddle = path_saddle(c, y, 1, good);
  test::expect_error([&] { head_scores(saddle, good, 1); }, "there is no layer 1");
}

}  // namespace
}  // namespace ladon::path_relevance_test
