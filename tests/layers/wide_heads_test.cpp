// The layer of infinitely wide heads: its values, and the distribution of its outputs.

#include "ladon/layers/attention/wide_heads.h"

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/infinite/finite/heads.h"
#include "ladon/tests/support.h"

namespace ladon::wide_heads_test {
namespace {

Tensor draws(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

WideHeadsOptions three(Weighting zeta) {
  return {.dim = 3,
          .heads = 2,
          .out = 2,
          .weighting = zeta,
          .query_key_std = 1.5,
          .value_output_std = 0.7};
}

// In plain loops, by the definition.
TEST(WideHeads, AreWhatTheirDefinitionSays) {
  const Tensor x = draws({2, 4, 3}, 1), b = draws({5, 2, 3, 3}, 2), v = draws({5, 2, 3, 2}, 3);
  const auto X = [&](int n, int t, int c) { return at(x, {n, t, c}).item(); };
  for (const Weighting zeta : {Weighting::softmax, Weighting::relu, Weighting::identity}) {
    const Tensor y = wide_heads(x, b, v, three(zeta));
    ASSERT_EQ(y.shape(), (Shape{5, 2, 4, 2}));
    for (const int p : {0, 4})
      for (int n = 0; n < 2; ++n)
        for (int q = 0; q < 4; ++q)
          for (int o = 0; o < 2; ++o) {
            double total = 0;
            for (int h = 0; h < 2; ++h) {
              double weight[4], norm = 0, sum = 0;
              for (int k = 0; k < 4; ++k) {
                double logit = 0;
                for (int c = 0; c < 3; ++c)
                  for (int e = 0; e < 3; ++e)
                    logit += 0.5 * X(n, q, c) * at(b, {p, h, c, e}).item() * X(n, k, e);
                weight[k] = zeta == Weighting::softmax ? std::exp(logit)
                            : zeta == Weighting::relu  ? std::max(logit, 0.0)
                                                       : logit;
                norm += weight[k];
              }
              for (int k = 0; k < 4; ++k)
                for (int c = 0; c < 3; ++c)
                  sum += weight[k] * X(n, k, c) * at(v, {p, h, c, o}).item();
              total += zeta == Weighting::softmax ? sum / norm : sum;
            }
            EXPECT_NEAR(at(y, {p, n, q, o}).item(), 0.7 / std::sqrt(6.0) * total, 1e-12);
          }
  }
}

// A sequence with masked tokens is the shorter one.
TEST(WideHeads, SeeNoMaskedTokens) {
  const Tensor x = draws({1, 4, 3}, 1), b = draws({1, 2, 3, 3}, 2), v = draws({1, 2, 3, 2}, 3);
  const Tensor mask = greater(tensor({1, 1, 0, 1}, {1, 4}), 0);
  const Tensor seen = index_select(x, 1, from_vector<std::int64_t>({0, 1, 3}, {3}));
  for (const Weighting zeta : {Weighting::softmax, Weighting::relu}) {
    const Tensor masked = wide_heads(x, b, v, three(zeta), mask);
    EXPECT_TRUE(all_close(index_select(masked, 2, from_vector<std::int64_t>({0, 1, 3}, {3})),
                          wide_heads(seen, b, v, three(zeta)), 1e-12, 1e-14));
  }
}

// Given B the outputs are normal with the kernel of finitely many heads: here their covariance over
// v, which is linear in v, so exact: the Jacobian by v times its transpose.
TEST(WideHeads, HaveTheKernelOfFinitelyManyHeads) {
  const WideHeadsOptions options{
      .dim = 3, .heads = 2, .query_key_std = 1.5, .value_output_std = 0.7};
  Generator rng(4);
  const MultiHeadAttention attention({.dim = 3,
                                      .heads = 1,
                                      .bias = false,
                                      .prior = {.parameterization = Parameterization::ntk,
                                                .query_key_std = 1.5,
                                                .value_output_std = 0.7}},
                                     rng);
  const Tensor x = draws({4, 3, 3}, 5), b = draws({1, 2, 3, 3}, 6);
  const Tensor by_v = jacobian(
      [&](const std::vector<Tensor>& v) { return flatten(wide_heads(x, b, v[0], options)); },
      {parameter(draws({1, 2, 3, 1}, 7))})[0];
  const Tensor rows = reshape(by_v, {12, 6});  // [N·T, H·d]
  const infinite::Kernel k =
      infinite::finite_heads(attention, {.heads = 2}).kernel(x, {{.logits = select(b, 0, 0)}});
  EXPECT_TRUE(all_close(reshape(permute(k.nngp, {0, 2, 1, 3}), {12, 12}),
                        matmul(rows, transpose(rows)), 1e-10, 1e-13));
}

TEST(WideHeads, HaveGradients) {
  for (const Weighting zeta : {Weighting::softmax, Weighting::identity})
    EXPECT_TRUE(gradcheck(
        [&](const std::vector<Tensor>& in) { return wide_heads(in[0], in[1], in[2], three(zeta)); },
        {parameter(draws({2, 2, 3}, 1)), parameter(draws({2, 2, 3, 3}, 2)),
         parameter(draws({2, 2, 3, 2}, 3))}));
}

TEST(WideHeads, AreALayer) {
  Generator rng(8);
  WideHeads layer({.dim = 3, .heads = 4, .out = 2}, rng);
  EXPECT_EQ(layer.parameter_count(), 4 * (9 + 6));
  const Tensor x = cast(draws({2, 5, 3}, 1), f32);
  EXPECT_EQ(layer(x).shape(), (Shape{2, 5, 2}));
  backward(sum(layer(x)));
  EXPECT_TRUE(layer.query_key.grad().defined() && layer.value_output.grad().defined());
  EXPECT_EQ(layer.describe(), "WideHeads(3 → 2, 4 heads, softmax)");
}

TEST(WideHeads, RefuseWhatDoesNotFit) {
  Generator rng(9);
  WideHeads layer({.dim = 3}, rng);
  test::expect_error([&] { layer(zeros({2, 3})); }, "expects [N, T, 3], got [2, 3]");
  test::expect_error(
      [&] {
        layer.forward_masked(zeros({2, 4, 3}), zeros({2, 4}));
      },
      "the mask must be bool [2, 4]");
  test::expect_error([&] { WideHeads({.dim = 0}, rng); }, "must be positive, got 0");
  test::expect_error([&] { WideHeads({.dim = 1, .query_key_std = -1}, rng); },
                     "query_key_std must be finite and must not be negative, got -1");
  const WideHeadsOptions one{.dim = 3};
  test::expect_error(
      [&] {
        wide_heads(zeros({1, 2, 3}), zeros({1, 3, 3}), zeros({1, 1, 3, 1}), one);
      },
      "query_key must be [layers, 1, 3, 3]");
  test::expect_error(
      [&] {
        wide_heads(zeros({1, 2, 3}), zeros({2, 1, 3, 3}), zeros({1, 1, 3, 1}), one);
      },
      "value_output must be [2, 1, 3, 1]");
}

}  // namespace
}  // namespace ladon::wide_heads_test
