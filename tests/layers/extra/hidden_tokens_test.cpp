// A masked token whose own output is not used has no effect on the loss, whatever numbers are in
// it: outputs, gradients of the other tokens and gradients of all weights do not change. Tested for
// every attention function, every kind of mask and every form of computation. The exceptions are
// tested, too: a NaN in a token whose output is used, or that a layer after attention multiplies.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::hidden_tokens_test {
namespace {

using test::gaussian;

constexpr std::int64_t tokens = 5, width = 4;
constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

/// A mask, the one token that it hides, and the queries [begin, end) that do not see it.
struct Hiding {
  const char* name;
  AttentionMask mask;
  bool causal = false;  ///< Of the layer.
  std::int64_t window = 0;
  std::int64_t token = 3;
  std::vector<std::int64_t> readers = {0, 1, 2};
};

std::vector<Hiding> hidings() {
  const Tensor key = arange(tokens), query = unsqueeze(arange(tokens), 1);
  const Tensor others = not_equal(key, 3), both = logical_and(others, not_equal(query, 3));
  const Tensor early = logical_or(others, greater(query, 2));  // queries 3 and 4 see it
  const Tensor bias = where(early, zeros({tokens, tokens}), scalar(-infinity, f32));
  return {
      {"from all queries", allowed(expand(others, {tokens, tokens})), false, 0, 3, {0, 1, 2, 4}},
      {"it sees nothing either", allowed(both), false, 0, 3, {0, 1, 2, 4}},
      {"from some queries", allowed(early)},
      {"by a bias", AttentionMask{.bias = bias}},
      {"by a causal mask", causal()},
      {"by a causal layer", {}, true},
      {"by a window", {}, true, 2, 0, {2, 3, 4}}};
}

enum class Way { plain, create_graph, weights, dropout, second };

MultiHeadAttention layer_of(Weighting weighting, const Hiding& h, Way way, DType dtype,
                            std::int64_t kv_heads = 0) {
  Generator rng(1);
  MultiHeadAttention layer({.dim = width,
                            .heads = 2,
                            .causal = h.causal,
                            .dropout = way == Way::dropout ? 0.3 : 0,
                            .kv_heads = kv_heads,
                            .window = h.window,
                            .form = {.weighting = weighting}},
                           rng);
  StateDict state = layer.state_dict();
  for (const auto& [name, x] : layer.named_parameters())
    state[name] = cast(x.detach() + 0.1 * gaussian(x.shape(), 9), dtype);
  layer.to(dtype);
  layer.load_state_dict(state);
  return layer;
}

/// Outputs that do not see the token, and gradients of their loss by all weights and by the inputs.
std::vector<Tensor> passed(const MultiHeadAttention& layer, const Hiding& h, Way way, DType dtype,
                           double fill) {
  Tensor x = clone(cast(gaussian({2, tokens, width}, 2), dtype));
  fill_(slice(x, 1, {.start = h.token, .stop = h.token + 1}), fill);
  x.set_requires_grad();
  const Tensor rows = from_vector(h.readers, {static_cast<std::int64_t>(h.readers.size())});
  const auto loss = [&](const Tensor& y) {
    const Tensor read = index_select(y, 1, rows);
    return std::pair{read, sum(read * cast(gaussian(read.shape(), 5), dtype))};
  };
  const auto [read, value] = loss(
      way == Way::weights ? layer.forward_with_weights(x, x, x, h.mask).output : layer(x, h.mask));
  std::vector<Tensor> by = layer.parameters();
  by.push_back(x);
  const bool twice = way == Way::second;
  std::vector<Tensor> all = grad({value}, by, {.create_graph = twice || way == Way::create_graph});
  if (twice) {
    Tensor squares = scalar(0, dtype);
    for (const Tensor& g : all) squares = squares + sum(square(g));
    all = grad({squares}, by, {.allow_unused = true});
    for (Tensor& g : all)
      if (!g.defined()) g = scalar(0, dtype);
  }
  for (Tensor& g : all) g = g.detach();
  all.push_back(read.detach());
  return all;
}

TEST(HiddenTokens, ThatNobodyReadsDoNotExist) {
  for (const DType dtype : {f32, f64})
    for (const Weighting weighting :
         {Weighting::softmax, Weighting::identity, Weighting::relu, Weighting::abs})
      for (const Hiding& h : hidings())
        for (const Way way :
             {Way::plain, Way::create_graph, Way::weights, Way::dropout, Way::second})
          for (const std::int64_t kv_heads : {0, 1}) {
            if (weighting != Weighting::softmax && h.mask.bias.defined()) continue;
            const auto layer = [&] { return layer_of(weighting, h, way, dtype, kv_heads); };
            const std::vector<Tensor> expected = passed(layer(), h, way, dtype, 0);
            for (const double fill : {nan, infinity, -infinity, dtype == f64 ? 1e300 : 3e38}) {
              SCOPED_TRACE(testing::Message()
                           << to_string(dtype) << ", " << to_string(weighting) << ", hidden "
                           << h.name << ", way " << static_cast<int>(way) << ", kv_heads "
                           << kv_heads << ", fill " << fill);
              std::vector<Tensor> found = passed(layer(), h, way, dtype, fill);
              Tensor& by_x = found[found.size() - 2];
              const Slice own{.start = h.token, .stop = h.token + 1};
              EXPECT_TRUE(all(isfinite(slice(by_x, 1, own))).item<bool>());
              by_x = clone(by_x);
              copy_(slice(by_x, 1, own), slice(expected[found.size() - 2], 1, own));
              const double tolerance = dtype == f64 ? 1e-12 : 1e-5;
              for (std::size_t i = 0; i < found.size(); ++i)
                ASSERT_TRUE(all_close(found[i], expected[i], tolerance, tolerance)) << i;
            }
          }
}

// What is read is NaN, and so is what it depends on, and the weights. Where weights are formed, NaN
// then reaches a token that only queries see which nobody reads.
TEST(HiddenTokens, ThatAreReadReachWhatTheirQueriesSee) {
  const Hiding h{.name = "", .mask = {}, .causal = true, .readers = {0, 1, 2, 3}};
  for (const Weighting weighting : {Weighting::softmax, Weighting::relu})
    for (const Way way : {Way::plain, Way::weights}) {
      SCOPED_TRACE(testing::Message() << to_string(weighting) << static_cast<int>(way));
      const auto found = passed(layer_of(weighting, h, way, f64), h, way, f64, nan);
      for (std::size_t i = 0; i < 4; ++i)  // query, key, value, output
        EXPECT_TRUE(any(isnan(found[i])).item<bool>()) << i;
      const Tensor &by_x = found[found.size() - 2], &read = found.back();
      EXPECT_TRUE(all(isfinite(slice(read, 1, {.stop = 3}))).item<bool>());
      EXPECT_TRUE(any(isnan(slice(read, 1, {.start = 3}))).item<bool>());
      EXPECT_TRUE(any(isnan(slice(by_x, 1, {.stop = 3}))).item<bool>());
      const bool fused = weighting == Weighting::softmax && way == Way::plain;
      EXPECT_EQ(all(isfinite(slice(by_x, 1, {.start = 4}))).item<bool>(), fused);
    }
}

// A layer behind attention gets rows, and no mask: its weights have the gradient 0·NaN. A token
// that all layers shall leave out is padding.
TEST(HiddenTokens, AreMultipliedByLayersBehindAttention) {
  Generator rng(3);
  const Linear behind({.in = width, .out = 1}, rng);
  const MultiHeadAttention attention({.dim = width, .heads = 2, .causal = true}, rng);
  Tensor x = cast(gaussian({1, tokens, width}, 2), f32);
  fill_(slice(x, 1, {.start = 4}), nan);
  const Tensor mask = less(unsqueeze(arange(tokens), 0), 4);
  const auto gradient = [&](const Tensor& y) {
    return grad(sum(slice(y, 1, {.stop = 4})), behind.weight);
  };
  EXPECT_TRUE(any(isnan(gradient(behind(attention(x))))).item<bool>());
  EXPECT_TRUE(all(isfinite(gradient(behind(attention(x, padding(mask)), mask)))).item<bool>());
}

}  // namespace
}  // namespace ladon::hidden_tokens_test
