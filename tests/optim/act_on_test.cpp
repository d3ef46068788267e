// Forces of particle methods on the outputs of heads or models (act_on), which backward() passes on
// to their parameters.

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/pooling.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/tests/optim/helpers.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::test::act_on_test {
namespace {

Tensor draws(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

// The force on x [2, M, 3], particles along axis 1, is that on the rows [M, 6]; the parameters get
// its product with the Jacobian.
TEST(ActOn, PullsTheForceOnRowsBack) {
  const std::int64_t m = 4;
  Tensor w = leaf(draws({2, m, 3}, 1));
  const Tensor weights = draws({2, m, 3}, 2);
  const auto rows = [&](const Tensor& x) {
    return reshape(contiguous(permute(x, {1, 0, 2})), {m, 6});
  };
  const Tensor x = square(w);
  Svgd svgd({.alpha = 0.7});
  svgd.act_on(x, 1, "squares");
  backward(sum(weights * x));
  const Tensor force = rewritten<Svgd>(rows(x.detach()), rows(weights), SvgdOptions{.alpha = 0.7});
  EXPECT_TRUE(all_close(rows(w.grad()), force * rows(2.0 * w.detach()), 1e-14, 1e-15));
  const BlockReport report = svgd.report()[0];
  EXPECT_EQ(report.name, "squares");
  EXPECT_EQ(report.count, m);
  EXPECT_EQ(report.dim, 6);
  EXPECT_GT(report.repulsive, 0);
}

TEST(ActOn, WithoutRepulsionAndSmoothingIsPlainTraining) {
  Tensor w = leaf(draws({3, 5}, 1)), twin = leaf(w);
  const auto loss = [](const Tensor& x) { return sum(square(square(x))); };
  Svgd svgd({.alpha = 0, .smoothing = false});  // leaves the factor 1/M
  Wgd wgd({.alpha = 0});
  const Tensor x = 2.0 * w;
  wgd.act_on(x, 0);
  backward(loss(x));
  backward(loss(2.0 * twin));
  EXPECT_TRUE(same_bits(w.grad(), twin.grad()));
  w.set_grad({});
  const Tensor y = 2.0 * w;
  svgd.act_on(y, 0);
  backward(loss(y));
  EXPECT_TRUE(all_close(3.0 * w.grad(), twin.grad(), 1e-15, 0));
}

TEST(ActOn, OneParticleKeepsEveryBit) {
  Tensor w = leaf(draws({1, 5}, 1)), twin = leaf(w);
  Svgd svgd({.alpha = 3});
  const Tensor x = 2.0 * w;
  svgd.act_on(x, 0);
  backward(sum(square(x)));
  backward(sum(square(2.0 * twin)));
  EXPECT_TRUE(same_bits(w.grad(), twin.grad()));
}

// Function-space SVGD (Wang, Ren, Zhu and Zhang 2019) of Gaussian regression, with the exact limit
// of an attention layer as the prior of functions: of the values f [M, n] at training and test
// inputs
//   ln p(f | y) = ln N(f; 0, K) − Σ_train (f − y)²/(2σ²) + …,
// a normal law, the Gaussian process's posterior. With the linear kernel SVGD's particles have its
// mean and covariance exactly. The functions are linear in parameters θ, f = θ·Φᵀ with K = Φ·Φᵀ, so
// that nothing keeps them from it.
TEST(ActOn, FunctionSpaceEndsAtTheGaussianProcess) {
  Generator rng(4);
  const Sequential net(MultiHeadAttention({.dim = 8,
                                           .heads = 1,
                                           .bias = false,
                                           .form = {.weighting = Weighting::relu},
                                           .prior = {.parameterization = Parameterization::ntk}},
                                          rng),
                       MeanPositions());
  const std::int64_t n = 5, train = 3, m = 12;
  const Tensor inputs = normal({n, 2, 8}, rng, 0, 1, f64);
  const Tensor kernel = infinite::limit(net)(inputs, infinite::Get::nngp).nngp;
  const Tensor y = tensor({0.5, -0.3, 0.2}, {3}, f64);
  const double noise = 0.3;

  const double jitter = 1e-10;
  const Tensor phi = lapack::cholesky(kernel);
  Tensor theta = leaf(draws({m, n}, 5));
  Svgd svgd({.kernel = linear_kernel(), .max_ratio = INFINITY});
  Sgd sgd({theta}, {.lr = 0.05});
  for (int step = 0; step < 3000; ++step) {
    sgd.zero_grad();
    const Tensor f = matmul(theta, transpose(phi));
    svgd.act_on(f, 0);
    const Tensor misfit = sum(square(slice(f, 1, {.stop = train}) - y)) / (2 * noise);
    backward(misfit - log_marginal_likelihood(kernel, transpose(f), scalar(0, f64), jitter));
    sgd.step();
  }
  const Slice first{.stop = train};
  const GpPrediction exact =
      GaussianProcess(slice(slice(kernel, 0, first), 1, first), y, {.noise = noise, .jitter = 0})
          .predict(slice(kernel, 1, first), kernel);
  const Tensor f = matmul(theta.detach(), transpose(phi));
  const Tensor centred = f - mean(f, 0, Dims::keep);
  expect_near(transpose(mean(f, 0, Dims::keep)), exact.mean, 1e-7);
  expect_near(matmul(transpose(centred), centred) / double(m), exact.covariance, 1e-7);
}

TEST(ActOn, HeadsOfALayerCanBeActedOn) {
  Generator rng(6);
  MultiHeadAttention attention({.dim = 4, .heads = 2, .bias = false}, rng);
  const Tensor x = normal({3, 5, 4}, rng);
  Svgd svgd({.alpha = 1});
  const auto details = attention.forward_with_weights(x, x, x);
  svgd.act_on(details.contexts, 1, "contexts");
  backward(sum(square(details.output)));
  EXPECT_EQ(svgd.report()[0].count, 2);
  EXPECT_EQ(svgd.report()[0].dim, details.contexts.count() / 2);
}

TEST(ActOn, OfAMethodThatIsNoMoreIsAnError) {
  Tensor w = leaf(draws({3, 2}, 1));
  const Tensor x = 2.0 * w;
  HookHandle hook;
  {
    Svgd svgd({.alpha = 1});
    hook = svgd.act_on(x, 0, "logits");
  }
  expect_error([&] { backward(sum(x), {.retain_graph = true}); },
               "the svgd that acts on `logits` was destroyed");
  hook.remove();
  backward(sum(x));
  EXPECT_TRUE(same_bits(w.grad(), 2.0 * ones({3, 2}, f64)));
}

TEST(ActOn, RefusesWhatDoesNotFit) {
  Svgd svgd({.alpha = 1});
  Tensor w = leaf(draws({3, 2}, 1));
  expect_error([&] { svgd.act_on(2.0 * w, 2); },
               "axis 2 is out of range for `activation`, which has shape [3, 2]");
  expect_error([&] { svgd.act_on(draws({3, 2}, 1), 0); }, "");
  expect_error([&] { svgd.apply(); }, "the method has no particles");
  expect_error([&] { svgd.report(); }, "nothing to report");
  Spos spos(Particles(), {}, Generator(1));
  expect_error([&] { spos.act_on(2.0 * w, 0); }, "noise of spos must be added to parameters");
  const Tensor x = log(w - w);  // −∞
  svgd.act_on(x, 0, "logits");
  expect_error([&] { backward(sum(x)); }, "block \"logits\", particle 0: its value has norm inf");
  const Tensor ok = 2.0 * w;
  svgd.act_on(ok, 0, "logits");
  expect_error([&] { backward(sum(ok * NAN)); }, "its gradient has norm nan");
}

}  // namespace
}  // namespace ladon::test::act_on_test
