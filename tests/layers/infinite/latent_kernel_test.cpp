// Kernels as functions of rows of latents, compared with those of finite_heads().

#include "ladon/layers/infinite/finite/latent_kernel.h"

#include "ladon/layers/activation.h"
#include "ladon/layers/linear.h"
#include "ladon/layers/pooling.h"
#include "ladon/tests/layers/infinite/attention/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon::latent_kernel_test {
namespace {

using infinite::finite_heads;
using infinite::FiniteHeads;
using infinite::FiniteHeadsOptions;
using infinite::Inputs;
using infinite::latent_kernel;
using infinite::LatentKernel;
using infinite::Latents;

MultiHeadAttention attention(Weighting zeta, bool causal = false) {
  Generator rng(1);
  return MultiHeadAttention(
      {.dim = 3,
       .heads = 1,
       .bias = false,
       .causal = causal,
       .form = {.weighting = zeta},
       .prior = {.parameterization = test::ntk, .query_key_std = 2, .value_output_std = 1.5}},
      rng);
}

Linear wide() {
  Generator rng(2);
  return Linear(
      {.in = 3, .out = 3, .parameterization = test::ntk, .weight_std = 1.3, .bias_std = 0.4}, rng);
}

Inputs sequences(bool masked) {
  Generator rng(3);
  const Tensor x = normal({5, 4, 3}, rng, 0, 1, f64);
  if (!masked) return x;
  const Tensor mask = tensor({1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0}, {5, 4});
  return {x, greater(mask, 0)};
}

/// The kernel at rows of latents is that of finite_heads at each.
void expect_same(const Layer& net, const FiniteHeadsOptions& options, const Inputs& x) {
  const FiniteHeads heads = finite_heads(net, options);
  const LatentKernel kernel = latent_kernel(heads, x);
  EXPECT_EQ(kernel.parts, options.heads);
  Generator rng(4);
  std::vector<Tensor> rows, kernels;
  for (int i = 0; i < 3; ++i) {
    const Latents z = heads.draw(x, rng);
    rows.push_back(infinite::row_of_latents(z));
    ASSERT_EQ(rows[0].count(), kernel.dim);
    EXPECT_TRUE(
        all_equal(infinite::row_of_latents(infinite::latents_of_row(rows.back(), z)), rows.back()));
    kernels.push_back(heads.kernel(x, z).nngp);
  }
  const Tensor z = stack(rows, 0), all = stack(kernels, 0);
  EXPECT_TRUE(all_close(kernel.at(z, x.count()), all, 1e-9, 1e-12));
  const std::int64_t few = std::min<std::int64_t>(2, x.count());
  const Slice some{.stop = few};
  EXPECT_TRUE(all_close(kernel.at(z, few), slice(slice(all, 1, some), 2, some), 1e-9, 1e-12));
}

TEST(LatentKernel, IsThatOfFiniteHeads) {
  for (const Weighting zeta : {Weighting::softmax, Weighting::relu, Weighting::identity})
    for (const bool masked : {false, true}) {
      const Inputs x = sequences(masked);
      const MultiHeadAttention a = attention(zeta);
      expect_same(Sequential(a, MeanPositions()), {.heads = 3}, x);
      expect_same(Sequential(a, FirstToken(), wide()), {.heads = 2, .key_width = 2}, x);
      expect_same(Sequential(attention(zeta, true), MeanPositions(), wide()),
                  {.heads = 2, .value_width = 3}, x);
    }
  expect_same(Sequential(attention(Weighting::softmax), Flatten()), {.heads = 2}, sequences(false));
}

// One input has one number per draw: two draws fit the scale and the offset of any readout.
TEST(LatentKernel, OfOneInputKnowsItsReadout) {
  Generator rng(6);
  const Inputs x = normal({1, 4, 3}, rng, 0, 1, f64);
  const MultiHeadAttention a = attention(Weighting::softmax);
  expect_same(Sequential(a, FirstToken()), {.heads = 2}, x);
  expect_same(Sequential(a, MeanPositions(), wide()), {.heads = 2}, x);
  expect_same(Sequential(a, Flatten()), {.heads = 2}, x);
}

// Attention behind another layer, or before one that is not linear, is passed through the model.
TEST(LatentKernel, GoesThroughAnyModel) {
  const Inputs x = sequences(false);
  const MultiHeadAttention a = attention(Weighting::softmax);
  expect_same(Sequential(wide(), Activation(Nonlinearity::relu), a, MeanPositions()), {.heads = 2},
              x);
  expect_same(Sequential(a, MeanPositions(), wide(), Activation(Nonlinearity::relu), wide()),
              {.heads = 2}, x);
  expect_same(Sequential(a, a, MeanPositions()), {.heads = 2}, x);
}

// Heads come one after the other in a row: the same head twice is one head.
TEST(LatentKernel, CutsARowIntoHeads) {
  const Sequential net(attention(Weighting::softmax), MeanPositions());
  const Inputs x = sequences(false);
  const LatentKernel one = latent_kernel(finite_heads(net, {.heads = 1, .value_width = 2}), x);
  const LatentKernel two = latent_kernel(finite_heads(net, {.heads = 2, .value_width = 2}), x);
  Generator rng(5);
  const Tensor z = normal({4, one.dim}, rng, 0, 1, f64);
  EXPECT_TRUE(all_close(two.at(concat({z, z}, 1), 5), one.at(z, 5), 1e-12, 1e-14));
}

// Models with the formula, and without it.
TEST(LatentKernel, RefusesRowsThatDoNotFit) {
  const Inputs x = sequences(false);
  const Sequential first(attention(Weighting::softmax), MeanPositions()),
      later(attention(Weighting::softmax), Activation(Nonlinearity::relu), MeanPositions());
  for (const Layer* net : {static_cast<const Layer*>(&first), static_cast<const Layer*>(&later)}) {
    const LatentKernel k = latent_kernel(finite_heads(*net, {.heads = 2}), x);
    const auto refused = [&](const Tensor& z, std::int64_t inputs, const std::string& why) {
      test::expect_error([&] { k.at(z, inputs); }, why);
    };
    for (const std::int64_t more : {-1, 1, 2})
      refused(zeros({3, k.dim + more}, f64), 2, "[latent_kernel] rows of latents must be f64 [P, ");
    refused(zeros({3, k.dim}), 2, "must be f64 [P, ");
    refused(zeros({k.dim}, f64), 2, "must be f64 [P, ");
    refused({}, 2, "got an undefined tensor");
    refused(zeros({3, k.dim}, f64), 6, "`inputs` is 6; it must be from 0 to 5");
    refused(zeros({3, k.dim}, f64), -1, "`inputs` is -1; it must be from 0 to 5");
    EXPECT_EQ(k.at(zeros({3, k.dim}, f64), 0).shape(), (Shape{3, 0, 0}));
    EXPECT_EQ(k.at(zeros({0, k.dim}, f64), 2).shape(), (Shape{0, 2, 2}));
  }
}

TEST(LatentKernel, RefusesWhatHasNone) {
  const Inputs x = sequences(false);
  test::expect_error([&] { latent_kernel(finite_heads(attention(Weighting::softmax)), x); },
                     "ends with positions");
  test::expect_error([&] { latent_kernel(finite_heads(Sequential(wide(), MeanPositions())), x); },
                     "no attention layer with random logits");
  test::expect_error([] { infinite::row_of_latents({}); }, "there are no latents");
  test::expect_error(
      [] {
        infinite::latents_of_row(ones({3}, f64), {{.logits = ones({1, 2, 2}, f64)}});
      },
      "has shape [3]; it must be [4]");
}

}  // namespace
}  // namespace ladon::latent_kernel_test
