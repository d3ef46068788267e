// Forms of multi-head attention that differ from the Transformer's: scaling, weights other than
// softmax, tied queries and keys, NTK parameterization, positions.

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/extra/state/torch_layout.h"
#include "ladon/layers/parameter_uses.h"
#include "ladon/tests/support.h"

namespace ladon::extra_attention_forms_test {
namespace {

MultiHeadAttention drawn(const MultiHeadAttentionOptions& options, std::uint64_t seed = 1) {
  Generator rng(seed);
  MultiHeadAttention layer(options, rng);
  layer.to(f64);
  return layer;
}

Tensor some(const Shape& shape, std::uint64_t seed = 2) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

// G_h = QK/(d·d_k^p)·X W_Q (X W_K)ᵀ, out = OV/sqrt(d_v·H·d)·concat_h[ζ(G_h) X W_V] W_O + σ_b·b.
Tensor by_definition(const MultiHeadAttention& a, const Tensor& x, double power) {
  const double d = static_cast<double>(a.query.size(2)), dk = static_cast<double>(a.head_dim());
  const double all = static_cast<double>(a.heads() * a.value_head_dim());
  Tensor out = zeros({x.size(0), x.size(1), a.output.size(2)}, f64);
  for (std::int64_t h = 0; h < a.heads(); ++h) {
    const auto times = [&](const Tensor& w) { return matmul(x, transpose(select(w, 0, h))); };
    const Tensor keys = times(a.form.tied ? a.query : a.key);
    const Tensor g = matmul(times(a.query), transpose(keys)) *
                     (a.query_key_std.item() / (d * std::pow(dk, power)));
    out = out + matmul(matmul(attention_weights(a.form.weighting, g), times(a.value)),
                       select(a.output, 0, h));
  }
  return out * (a.value_output_std.item() / std::sqrt(all * d)) + a.bias_std.item() * a.output_bias;
}

TEST(AttentionForms, NtkParameterizationIsItsDefinition) {
  const Tensor x = some({2, 3, 6});
  for (const Weighting zeta :
       {Weighting::softmax, Weighting::identity, Weighting::relu, Weighting::abs})
    for (const auto scaling : {AttentionScaling::sqrt, AttentionScaling::linear})
      for (const bool tied : {false, true}) {
        const auto layer = drawn({.dim = 6,
                                  .heads = 2,
                                  .head_dim = 4,
                                  .value_head_dim = 5,
                                  .out = 7,
                                  .form = {.scaling = scaling, .weighting = zeta, .tied = tied},
                                  .prior = {.parameterization = Parameterization::ntk,
                                            .query_key_std = 1.3,
                                            .value_output_std = 0.8,
                                            .bias_std = 0.4}});
        const double power = scaling == AttentionScaling::sqrt ? 0.5 : 1;
        EXPECT_TRUE(all_close(layer(x), by_definition(layer, x, power), 1e-12, 1e-12));
        EXPECT_FALSE(layer.query_bias.defined() || layer.value_bias.defined());
      }
}

TEST(AttentionForms, MaskedWeightsAreZero) {
  const Tensor x = some({2, 3, 4});
  const Tensor mask = cast(tensor({1, 1, 0, 0, 0, 0}, {2, 3}), boolean);
  for (const Weighting zeta : {Weighting::identity, Weighting::relu, Weighting::abs})
    for (const bool causal : {false, true}) {
      const auto layer =
          drawn({.dim = 4, .heads = 2, .causal = causal, .form = {.weighting = zeta}});
      const auto details = layer.forward_with_weights(x, x, x, {.key_mask = mask});
      EXPECT_TRUE(all_equal(details.output, layer.forward_masked(x, mask)));
      EXPECT_TRUE(all_equal(details.weights * cast(logical_not(reshape(mask, {2, 1, 1, 3})), f64),
                            zeros({2, 2, 3, 3}, f64)));
      if (causal) {
        EXPECT_TRUE(all_equal(triu(details.weights, 1), zeros({2, 2, 3, 3}, f64)));
      }
      // The second example sees nothing.
      EXPECT_TRUE(all_equal(select(details.output, 0, 1), expand(layer.output_bias, {3, 4})));
      // The first is as without its last token.
      const Tensor short_x = at(x, {Slice{.stop = 1}, Slice{.stop = 2}});
      EXPECT_TRUE(all_close(at(details.output, {0, Slice{.stop = 2}}), select(layer(short_x), 0, 0),
                            1e-12, 1e-12));
    }
}

TEST(AttentionForms, ForwardMaskedIsAKeyMask) {
  const auto layer = drawn({.dim = 4, .heads = 2});
  const Tensor x = some({2, 3, 4}), mask = cast(tensor({1, 1, 0, 0, 1, 1}, {2, 3}), boolean);
  EXPECT_TRUE(all_equal(layer(x, mask), layer.forward(x, {.key_mask = mask})));
}

TEST(AttentionForms, ImagesAreSequencesOfPixels) {
  const auto layer = drawn({.dim = 4, .heads = 2, .out = 3});
  const Tensor x = some({2, 3, 2, 4});
  EXPECT_TRUE(all_equal(layer(x), reshape(layer(reshape(x, {2, 6, 4})), {2, 3, 2, 3})));
}

TEST(AttentionForms, TiedKeysAreQueries) {
  auto tied = drawn({.dim = 4, .heads = 2, .form = {.tied = true}});
  EXPECT_EQ(tied.state_dict().count("key"), 0u);
  EXPECT_EQ(tied.state_dict().count("key_bias"), 0u);
  auto untied = drawn({.dim = 4, .heads = 2});
  untied.query = untied.key = tied.query;
  untied.value = tied.value;
  untied.output = tied.output;
  const Tensor x = some({2, 3, 4}), y = some({2, 5, 4}, 3);
  EXPECT_TRUE(all_close(tied(x), untied(x), 1e-12, 1e-12));
  EXPECT_TRUE(all_close(tied.forward(x, y, y), untied.forward(x, y, y), 1e-12, 1e-12));
  test::expect_error([] { drawn({.dim = 4, .heads = 2, .key_dim = 5, .form = {.tied = true}}); },
                     "need inputs of one width, got dim = 4 and key_dim = 5");
}

// A product for queries (with keys, if tied), keys, values and the output, and a use a bias.
TEST(AttentionForms, ReportsEachWeightOnce) {
  const Tensor x = some({2, 3, 4}), y = some({2, 5, 4}, 3);
  for (const bool tied : {false, true})
    for (const bool cross : {false, true}) {
      const auto layer = drawn({.dim = 4, .heads = 2, .form = {.tied = tied}});
      const ParameterUses reported;
      cross ? layer.forward(x, y, y) : layer(x);
      EXPECT_EQ(reported.products.size(), tied ? 3u : 4u);
      EXPECT_EQ(reported.uses.size(), tied ? 3u : 4u);
    }
}

TEST(AttentionForms, PositionsAreSeenByQueriesAndKeys) {
  const RandomPositionsOptions sum{.grid = {5}, .correlation = decaying_correlation(0.3)};
  RandomPositionsOptions concat = sum;
  concat.merge = PositionMerge::concat;
  concat.channels = 3;
  const Tensor x = some({2, 4, 6});
  for (const auto& encoding : {sum, concat})
    for (const bool values : {false, true}) {
      const auto layer =
          drawn({.dim = 6, .heads = 2, .positions = AttentionPositions{encoding, values}});
      auto plain = drawn({.dim = layer.query.size(2),
                          .heads = 2,
                          .head_dim = 3,
                          .value_dim = layer.value.size(2),
                          .out = 6});
      plain.query = layer.query;
      plain.key = layer.key;
      plain.value = layer.value;
      plain.output = layer.output;
      const Tensor seen = (*layer.positions)(x);
      EXPECT_TRUE(all_close(layer(x), plain.forward(seen, seen, values ? seen : x), 1e-12, 1e-12));
      test::expect_error(
          [&] {
            layer.forward(x, some({2, 4, 6}, 9), x);
          },
          "in self-attention only");
    }
}

TEST(AttentionForms, GradientsAreRight) {
  const Tensor mask = cast(tensor({1, 1, 0, 1, 1, 1}, {2, 3}), boolean);
  for (const Weighting zeta :
       {Weighting::softmax, Weighting::identity, Weighting::relu, Weighting::abs}) {
    auto layer = drawn({.dim = 4,
                        .heads = 2,
                        .form = {.weighting = zeta, .tied = true},
                        .positions = AttentionPositions{.encoding = {.grid = {3}}},
                        .prior = {.parameterization = Parameterization::ntk, .bias_std = 0.5}});
    std::vector<Tensor> inputs = layer.parameters();
    inputs.push_back(some({2, 3, 4}).set_requires_grad());
    const auto f = [&](const std::vector<Tensor>& in) {
      MultiHeadAttention probe = layer;
      std::size_t i = 0;
      for (Tensor* part : {&probe.query, &probe.value, &probe.output, &probe.output_bias,
                           &probe.positions->weight})
        *part = in[i++];
      return probe.forward_masked(in[i], mask);
    };
    EXPECT_TRUE(gradcheck(f, inputs));
  }
}

TEST(AttentionForms, SaveAndLoad) {
  auto a = drawn(
      {.dim = 4,
       .heads = 2,
       .form = {.tied = true},
       .positions = AttentionPositions{.encoding = {.grid = {3}}},
       .prior = {
           .parameterization = Parameterization::ntk, .query_key_std = 1.5, .bias_std = 0.5}});
  auto b = drawn({.dim = 4,
                  .heads = 2,
                  .form = {.tied = true},
                  .positions = AttentionPositions{.encoding = {.grid = {3}}},
                  .prior = {.parameterization = Parameterization::ntk, .bias_std = 0.1}},
                 8);
  b.load_state_dict(a.state_dict());
  const Tensor x = some({2, 3, 4});
  EXPECT_TRUE(all_equal(a(x), b(x)));
  EXPECT_EQ(a.hyperparameters().size(), 4u);
}

TEST(AttentionForms, OtherFormsHaveNoTorchLayout) {
  test::expect_error([] { to_torch(drawn({.dim = 4, .heads = 2, .form = {.tied = true}})); },
                     "this layer has queries and keys that share weights");
  test::expect_error([] { to_torch(drawn({.dim = 4, .heads = 2, .out = 5})); }, "of one width");
  test::expect_error([] { to_torch(drawn({.dim = 4, .heads = 2, .projection_bias = false})); },
                     "biases of queries or of the output, but not both");
  const auto layer = drawn({.dim = 4, .heads = 2, .form = {.weighting = Weighting::relu}});
  const Tensor x = some({2, 3, 4});
  test::expect_error(
      [&] {
        layer.forward(x, AttentionMask() + zeros({3, 3}, f64));
      },
      "needs softmax");
}

}  // namespace
}  // namespace ladon::extra_attention_forms_test
