// Relevance of heads: exact by sampling, and by the saddle-point approximation.

#include "ladon/optim/posterior/relevance.h"

#include <cmath>

#include "ladon/autograd/running_moments.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/infinite/finite/heads.h"
#include "ladon/layers/pooling.h"
#include "ladon/optim/posterior/latent_posterior.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::relevance_test {
namespace {

// Two given heads on four sequences of three tokens; three targets. By an independent program, by
// quadrature over the two scales: ln evidence −3.0292575457, E r = (0.9119176369, 0.9597501848),
// and the saddle (0.90150891, 0.95761692), at values of width 4.
Tensor two_heads() {
  Generator rng(1);
  const Sequential net(MultiHeadAttention({.dim = 2,
                                           .heads = 1,
                                           .bias = false,
                                           .prior = {.parameterization = Parameterization::ntk,
                                                     .query_key_std = 2,
                                                     .value_output_std = 1.5}},
                                          rng),
                       MeanPositions());
  const Tensor x = tensor({0.5, -1.0, 1.2,  0.3,  -0.7, 0.8,  -0.4, 0.9, 0.1, -1.5, 1.0, 1.0,
                           1.5, 0.2,  -0.3, -0.6, 0.4,  -0.2, -1.1, 0.5, 0.6, 0.7,  0.2, -0.9},
                          {4, 3, 2}, f64);
  const Tensor forms = tensor({0.6, -1.1, 0.9, 0.4, -0.5, 0.3, 1.4, -0.8}, {2, 1, 2, 2}, f64);
  const auto heads = infinite::finite_heads(net, {.heads = 1});
  return stack({heads.kernel(x, {{.logits = select(forms, 0, 0)}}).nngp,
                heads.kernel(x, {{.logits = select(forms, 0, 1)}}).nngp},
               0);
}
const Tensor& targets() {
  static const Tensor y = tensor({0.7, -0.4, 0.2}, f64);
  return y;
}

TEST(Relevance, IsSampledExactly) {
  const Tensor heads = two_heads();
  Generator rng(2);
  RunningMoments scales;
  const LatentPosterior p =
      sample_posterior(relevance_kernel(heads, 4), 4, targets(),
                       {.noise = 0.1, .smc = {.particles = 300}, .replicates = 20}, rng);
  EXPECT_LT(std::abs(p.log_evidence.value + 3.0292575457), 6 * p.log_evidence.se);
  EXPECT_LT(p.log_evidence.se, 0.02);
  for (std::int64_t r = 0; r < 20; ++r)
    scales.add(mean(
        scales_of_latents(slice(p.latents, 0, {.start = 300 * r, .stop = 300 * (r + 1)}), 2), 0));
  const Tensor error = scales.mean() - tensor({0.9119176369, 0.9597501848}, f64);
  EXPECT_LT(amax(abs(error / scales.standard_error())).item(), 6);
  EXPECT_LT(amax(scales.standard_error()).item(), 0.03);
}

TEST(Relevance, HasItsSaddle) {
  const Tensor heads = two_heads();
  const RelevanceSaddle saddle = relevance_saddle(heads, targets(), 0.1, 4);
  test::expect_near(saddle.scales, tensor({0.90150891, 0.95761692}, f64), 2e-8);
  EXPECT_LT(saddle.gradient, 1e-9);
  // r_h = 1 + r_h/(d_v·H)·[αᵀK_hα − tr(A⁻¹K_h)], for two outputs alike with both summed.
  const Tensor y = concat({unsqueeze(targets(), 1), -2.0 * unsqueeze(targets(), 1)}, 1);
  const Tensor r = relevance_saddle(heads, y, 0.1, 7).scales;
  const Tensor k = slice(slice(heads, 1, {.stop = 3}), 2, {.stop = 3});
  const Tensor total = sum(reshape(r, {2, 1, 1}) * k, 0) / 2.0 + 0.1 * eye(3, f64);
  const Tensor inverse = test::invert(total).first;
  for (int h = 0; h < 2; ++h) {
    const Tensor one = select(k, 0, h), a = matmul(inverse, y);
    const double energy = sum(a * matmul(one, a)).item(), cost = 2 * sum(inverse * one).item();
    const double own = select(r, 0, h).item();
    EXPECT_NEAR(own, 1 + own / (7 * 2) * (energy - cost), 1e-9);
  }
}

// One head made the targets: it is found, the more so the narrower its values, and wide ones tell
// no head from another.
TEST(Relevance, FindsTheHeadThatMadeTheTargets) {
  Generator rng(3);
  const std::int64_t n = 30, heads = 4;
  std::vector<Tensor> kernels;
  Tensor of_first;
  for (int h = 0; h < heads; ++h) {
    const Tensor features = normal({n, 6}, rng, 0, 1, f64);
    if (h == 0) of_first = features;
    kernels.push_back(matmul(features, transpose(features)));
  }
  const Tensor y =
      flatten(matmul(of_first, normal({6, 1}, rng, 0, 1, f64))) + normal({n}, rng, 0, 0.3, f64);
  double before = 100;
  for (const std::int64_t width : {10, 40, 160, 1000000}) {
    const RelevanceSaddle saddle = relevance_saddle(stack(kernels, 0), y, 0.1, width);
    const auto r = saddle.scales.to_vector();
    EXPECT_LT(saddle.gradient, 1e-9);
    EXPECT_LT(r[0], before);
    before = r[0];
    for (std::size_t h = 1; h < 4; ++h) EXPECT_GT(r[0], r[h]);
  }
  EXPECT_NEAR(before, 1, 1e-3);
}

TEST(Relevance, RefusesWhatDoesNotFit) {
  const Tensor heads = stack({eye(3, f64), eye(3, f64)}, 0), y = ones({2}, f64);
  test::expect_error([&] { relevance_saddle(eye(3, f64), y, 1, 2); },
                     "must be [H, N, N], got [3, 3]");
  test::expect_error([&] { relevance_saddle(heads, y, 1, 0); }, "width of values is 0");
  test::expect_error([&] { relevance_saddle(heads, y, 0, 2); }, "the noise is 0");
  test::expect_error([&] { relevance_saddle(heads, ones({4}, f64), 1, 2); },
                     "at most 3, the number of inputs");
  test::expect_error([&] { relevance_kernel(heads * NAN, 2); }, "finite");
  test::expect_error([&] { relevance_kernel(heads, std::int64_t{1} << 62); }, "is more than 2^60");
  test::expect_error([&] { scales_of_latents(ones({2, 3}, f64), 2); }, "[S, H·d_v], got [2, 3]");
}

}  // namespace
}  // namespace ladon::relevance_test
