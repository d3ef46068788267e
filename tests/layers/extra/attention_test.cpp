// Properties of multi-head attention as a layer. The kernel itself is tested in tests/autograd.

#include "ladon/layers/attention/attention.h"

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/extra/state/torch_layout.h"
#include "ladon/tests/support.h"

namespace ladon::attention_test {
namespace {

MultiHeadAttention layer_f64(MultiHeadAttentionOptions options, Generator& rng) {
  MultiHeadAttention layer(options, rng);
  layer.to(f64);
  for (Tensor* bias : {&layer.query_bias, &layer.key_bias, &layer.value_bias, &layer.output_bias})
    if (bias->defined()) copy_(bias->detach(), normal(bias->shape(), rng));
  return layer;
}

// The definition, head by head, with plain loops over heads only.
Tensor by_definition(const MultiHeadAttention& a, const Tensor& q, const Tensor& k, const Tensor& v,
                     const Tensor& additive) {
  Tensor out = expand(a.output_bias, {q.size(0), q.size(1), a.output.size(2)});
  for (std::int64_t h = 0; h < a.heads(); ++h) {
    const auto project = [&](const Tensor& x, const Tensor& w, const Tensor& b) {
      return matmul(x, transpose(select(w, 0, h))) + select(b, 0, h);
    };
    const Tensor queries = project(q, a.query, a.query_bias);
    const Tensor keys = project(k, a.key, a.key_bias);
    const Tensor values = project(v, a.value, a.value_bias);
    const double scale = 1 / std::sqrt(static_cast<double>(a.head_dim()));
    const Tensor weights = softmax(matmul(queries, transpose(keys)) * scale + additive);
    out = out + matmul(matmul(weights, values), select(a.output, 0, h));
  }
  return out;
}

TEST(MultiHeadAttention, IsItsDefinition) {
  Generator rng(1);
  const auto layer = layer_f64({.dim = 6, .heads = 3}, rng);
  const Tensor x = normal({2, 5, 6}, rng, 0, 1, f64);
  EXPECT_TRUE(all_close(layer(x), by_definition(layer, x, x, x, zeros({5, 5}, f64)), 1e-12, 1e-12));
}

TEST(MultiHeadAttention, CrossAttendsToOtherWidths) {
  Generator rng(2);
  const auto layer =
      layer_f64({.dim = 6, .heads = 2, .head_dim = 4, .key_dim = 5, .value_dim = 7}, rng);
  const Tensor q = normal({2, 3, 6}, rng, 0, 1, f64), k = normal({2, 4, 5}, rng, 0, 1, f64),
               v = normal({2, 4, 7}, rng, 0, 1, f64);
  const Tensor y = layer.forward(q, k, v);
  EXPECT_EQ(y.shape(), (Shape{2, 3, 6}));
  EXPECT_TRUE(all_close(y, by_definition(layer, q, k, v, zeros({3, 4}, f64)), 1e-12, 1e-12));
}

TEST(MultiHeadAttention, MasksOfAllKindsAgree) {
  Generator rng(3);
  const auto layer = layer_f64({.dim = 4, .heads = 2}, rng);
  const Tensor x = normal({2, 3, 4}, rng, 0, 1, f64);
  const Tensor key_mask = cast(tensor({1, 1, 0, 1, 0, 0}, {2, 3}), boolean);
  const Tensor visible = expand(unsqueeze(unsqueeze(key_mask, 1), 1), {2, 1, 3, 3});
  const Tensor additive = where(visible, zeros({1}, f64), full({1}, -INFINITY, f64));
  const Tensor y = layer.forward(x, {.key_mask = key_mask});
  EXPECT_TRUE(all_close(layer.forward(x, allowed(visible)), y, 1e-12, 1e-12));
  EXPECT_TRUE(all_close(layer.forward(x, AttentionMask() + additive), y, 1e-12, 1e-12));
  const Tensor both = layer.forward(x, padding(key_mask) + zeros({3, 3}, f64));
  EXPECT_TRUE(all_close(both, y, 1e-12, 1e-12));
}

TEST(MultiHeadAttention, PaddingChangesNothing) {
  Generator rng(4);
  const auto layer = layer_f64({.dim = 4, .heads = 2}, rng);
  const Tensor x = normal({1, 3, 4}, rng, 0, 1, f64);
  const Tensor padded = pad(x, {0, 0, 0}, {0, 2, 0}, 9);
  const Tensor key_mask = cast(tensor({1, 1, 1, 0, 0}, {1, 5}), boolean);
  const Tensor y = layer.forward(padded, {.key_mask = key_mask});
  EXPECT_TRUE(all_close(slice(y, 1, {.stop = 3}), layer(x), 1e-12, 1e-12));
}

TEST(MultiHeadAttention, CausalSeesNoFuture) {
  Generator rng(5);
  const auto layer = layer_f64({.dim = 4, .heads = 2, .causal = true}, rng);
  const Tensor x = normal({1, 5, 4}, rng, 0, 1, f64);
  const Tensor prefix = slice(x, 1, {.stop = 3});
  EXPECT_TRUE(all_close(slice(layer(x), 1, {.stop = 3}), layer(prefix), 1e-12, 1e-12));
}

TEST(MultiHeadAttention, AFullyMaskedQueryGivesTheBias) {
  Generator rng(6);
  const auto layer = layer_f64({.dim = 4, .heads = 2}, rng);
  const Tensor x = normal({1, 3, 4}, rng, 0, 1, f64).set_requires_grad();
  const Tensor y = layer.forward(x, {.key_mask = zeros({1, 3}, boolean)});
  EXPECT_TRUE(all_equal(y, expand(layer.output_bias, {1, 3, 4})));
  backward(sum(square(y)));
  EXPECT_TRUE(all_equal(x.grad(), zeros({1, 3, 4}, f64)));
}

// Heads stand in no order: with their rows of the output they may change places, those that share
// keys and values among themselves, and as a group with these.
TEST(MultiHeadAttention, PermutingHeadsChangesNothing) {
  Generator rng(7);
  for (const std::int64_t kv_heads : {6, 3, 2, 1}) {
    auto layer = layer_f64({.dim = 12, .heads = 6, .causal = true, .kv_heads = kv_heads}, rng);
    const Tensor x = normal({2, 4, 12}, rng, 0, 1, f64);
    const Tensor before = layer(x);
    const Tensor groups = permutation(kv_heads, rng);
    std::vector<Tensor> heads;
    for (const std::int64_t group : groups.to_vector<std::int64_t>())
      heads.push_back(6 / kv_heads * group + permutation(6 / kv_heads, rng));
    const auto reorder = [](Tensor& part, const Tensor& order) {
      part = parameter(index_select(part.detach(), 0, order));
    };
    for (Tensor* part : {&layer.query, &layer.query_bias}) reorder(*part, concat(heads, 0));
    for (Tensor* part : {&layer.key, &layer.value, &layer.key_bias, &layer.value_bias})
      reorder(*part, groups);
    EXPECT_FALSE(all_close(layer(x), before, 1e-3, 1e-3));
    reorder(layer.output, concat(heads, 0));
    EXPECT_TRUE(all_close(layer(x), before, 1e-12, 1e-12));
  }
}

TEST(MultiHeadAttention, ReturnsWeightsAndContexts) {
  Generator rng(8);
  const auto layer = layer_f64({.dim = 4, .heads = 2}, rng);
  const Tensor x = normal({2, 3, 4}, rng, 0, 1, f64);
  const auto details = layer.forward_with_weights(x, x, x);
  EXPECT_EQ(details.weights.shape(), (Shape{2, 2, 3, 3}));
  EXPECT_EQ(details.contexts.shape(), (Shape{2, 2, 3, 2}));
  EXPECT_TRUE(all_close(sum(details.weights, -1), ones({2, 2, 3}, f64), 1e-12, 1e-12));
  EXPECT_TRUE(all_close(details.output, layer(x), 1e-12, 1e-12));
}

TEST(MultiHeadAttention, GradientsAreRight) {
  Generator rng(9);
  auto layer = layer_f64({.dim = 4, .heads = 2}, rng);
  const Tensor x = normal({2, 3, 4}, rng, 0, 1, f64).set_requires_grad();
  const Tensor key_mask = cast(tensor({1, 1, 0, 1, 1, 1}, {2, 3}), boolean);
  std::vector<Tensor> inputs = layer.parameters();
  inputs.push_back(x);
  const auto f = [&](const std::vector<Tensor>& in) {
    MultiHeadAttention probe = layer;
    std::size_t i = 0;
    for (Tensor* part : {&probe.query, &probe.key, &probe.value, &probe.output, &probe.query_bias,
                         &probe.key_bias, &probe.value_bias, &probe.output_bias})
      *part = in[i++];
    return probe.forward(in[i], {.key_mask = key_mask});
  };
  EXPECT_TRUE(gradcheck(f, inputs));
}

// W_q·x in torch's layout is rows h·head_dim … of in_proj_weight; the output projection is
// transposed.
TEST(MultiHeadAttention, TorchLayoutThereAndBack) {
  Generator rng(10), other(11);
  const auto a = layer_f64({.dim = 6, .heads = 3}, rng);
  auto b = layer_f64({.dim = 6, .heads = 3}, other);
  const StateDict state = to_torch(a);
  EXPECT_EQ(state.at("in_proj_weight").shape(), (Shape{18, 6}));
  EXPECT_EQ(at(state.at("in_proj_weight"), {6 + 2 * 1 + 1, 4}).item(), at(a.key, {1, 1, 4}).item());
  EXPECT_EQ(at(state.at("out_proj.weight"), {5, 3}).item(), at(a.output, {1, 1, 5}).item());
  from_torch(b, state);
  const Tensor x = normal({2, 4, 6}, rng, 0, 1, f64);
  EXPECT_TRUE(all_equal(a(x), b(x)));

  StateDict broken = state;
  broken["out_proj.bias"] = zeros({5}, f64);
  const Tensor before = clone(b.query.detach());
  test::expect_error([&] { from_torch(b, broken); }, "`out_proj.bias` has shape [5], expected [6]");
  EXPECT_TRUE(all_equal(b.query, before));
}

TEST(MultiHeadAttention, BadInputIsNamed) {
  Generator rng(12);
  const MultiHeadAttention layer({.dim = 4, .heads = 2}, rng);
  const Tensor x = ones({2, 3, 4});
  test::expect_error([&] { MultiHeadAttention({.dim = 5, .heads = 2}, rng); },
                     "2 heads do not divide dim = 5");
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  test::expect_error([&] { MultiHeadAttention({.dim = 4, .heads = huge, .head_dim = huge}, rng); },
                     "[MultiHeadAttention] a size of");
  test::expect_error([&] { layer(ones({2, 3, 5})); }, "[batch, T, 4], got shape [2, 3, 5]");
  test::expect_error([&] { layer.forward(x, x, ones({2, 4, 4})); }, "must agree");
  test::expect_error(
      [&] {
        layer.forward(x, {.key_mask = ones({2, 4}, boolean)});
      },
      "the mask of keys must be bool [2, 3], got bool [2, 4]");
  test::expect_error(
      [&] {
        layer.forward(x, {.key_mask = ones({2, 3})});
      },
      "got f32 [2, 3]; cast(mask, boolean)");
}

// A floating `allowed` was added to the logits, so that 0 forbade nothing; a bool bias forbade.
TEST(AttentionMask, ChecksTheDtypeOfEachPart) {
  Generator rng(1);
  const MultiHeadAttention layer({.dim = 4, .heads = 2}, rng);
  const Tensor x = ones({2, 3, 4});
  struct Part {
    const char* name;
    Tensor AttentionMask::*field;
    Shape shape;
    bool floating;
  };
  for (const Part& part : {Part{"key_mask", &AttentionMask::key_mask, {2, 3}, false},
                           Part{"allowed", &AttentionMask::allowed, {3, 3}, false},
                           Part{"bias", &AttentionMask::bias, {3, 3}, true}})
    for (const DType dtype : {f32, f64, i64, boolean}) {
      AttentionMask mask;
      mask.*part.field = ones(part.shape, dtype);
      SCOPED_TRACE(detail::join(part.name, " of ", dtype));
      if (is_floating(dtype) == part.floating && (part.floating || dtype == boolean)) {
        EXPECT_NO_THROW(layer.forward(x, mask));
        EXPECT_NO_THROW(layer.forward(x, mask & causal()));
        continue;
      }
      const char* wrong = part.floating ? "must be floating, got" : "must be bool";
      test::expect_error([&] { layer.forward(x, mask); }, wrong);
      test::expect_error([&] { layer.forward_with_weights(x, x, x, mask); }, wrong);
      test::expect_error([&] { layer.forward(x, layer.project_memory(x, x), mask); }, wrong);
      test::expect_error([&] { causal() & mask; }, wrong);
      mask.allowed = ones({3, 3}, boolean);
      if (part.floating) test::expect_error([&] { layer.forward(x, mask); }, wrong);
    }
}

// The output sums over heads and their widths, and so do the fans of its weights, however many
// channels come out.
TEST(MultiHeadAttention, DrawsItsOutputByTheFanOfTheSum) {
  for (const std::int64_t out : {16, 2000}) {
    Generator rng(1);
    const MultiHeadAttention layer({.dim = 4,
                                    .heads = 8,
                                    .head_dim = 4,
                                    .value_head_dim = 16,
                                    .out = out,
                                    .prior = {.init = Init::kaiming_normal}},
                                   rng);
    const double n = static_cast<double>(layer.output.count());
    const double variance = mean(square(cast(layer.output.detach(), f64))).item();
    EXPECT_NEAR(variance * 128, 1, 4 * std::sqrt(2 / n));  // of n normal numbers
  }
}

}  // namespace
}  // namespace ladon::attention_test
