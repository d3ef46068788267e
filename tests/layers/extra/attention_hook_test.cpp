// Logical combinations of attention masks, and variants of attention by hooks.

#include "ladon/layers/attention/attention_hook.h"

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/extra/state/torch_layout.h"
#include "ladon/layers/infinite/attention/limit.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/tests/support.h"

namespace ladon::attention_hook_test {
namespace {

using test::gaussian;

MultiHeadAttention drawn(MultiHeadAttentionOptions options) {
  Generator rng(2);
  MultiHeadAttention layer(options, rng);
  layer.to(f64);
  return layer;
}

TEST(AttentionMask, PartsRestrictTogether) {
  const auto layer = drawn({.dim = 4, .heads = 2});
  const Tensor x = gaussian({2, 3, 4}), tokens = cast(tensor({1, 1, 0, 1, 1, 1}, {2, 3}), boolean);
  const Tensor lower = cast(tril(ones({3, 3}, f64)), boolean), bias = gaussian({2, 3, 3}, 3);
  const Tensor may = logical_and(unsqueeze(unsqueeze(tokens, 1), 1), lower);
  const Tensor expected = layer(x, AttentionMask() + where(may, bias, scalar(-INFINITY, f64)));
  const auto same = [&](const AttentionMask& mask) {
    return all_close(layer(x, mask), expected, 1e-13, 1e-13);
  };
  EXPECT_TRUE(same((causal() & padding(tokens)) + bias));
  EXPECT_TRUE(same((padding(tokens) & allowed(lower)) + 0.25 * bias + 0.75 * bias));
  EXPECT_TRUE(same(allowed(may) & (AttentionMask() + bias)));
  EXPECT_TRUE(all_equal(layer(x, padding(tokens) & padding(tokens)), layer(x, tokens)));
  EXPECT_TRUE(all_equal(drawn({.dim = 4, .heads = 2, .causal = true})(x), layer(x, causal())));
}

TEST(AttentionMask, DTypesAreChecked) {
  test::expect_error([] { allowed(ones({3, 3})); }, "the mask must be bool, got f32");
  test::expect_error([] { allowed({}); }, "got an undefined tensor");
  test::expect_error([] { causal() + ones({3, 3}, boolean); }, "must be floating, got bool");
}

/// Adds a trained number for each head and distance of places, as relative biases do.
struct RelativeBias : AttentionHook {
  Tensor table;  // [heads, 2T − 1]

  RelativeBias(std::int64_t heads, std::int64_t length)
      : table(parameter(gaussian({heads, 2 * length - 1}, 5))) {}
  Tensor bias(const AttentionHeads& h) const override {
    const std::int64_t n = h.q.size(2);
    const Tensor at = unsqueeze(arange(n), 1) - arange(n) + (n - 1);  // [T, T], from 0
    return reshape(index_select(table, 1, flatten(at)), {table.size(0), n, n});
  }
  void visit(Visitor& v) override { v("table", table); }
  std::string describe() const override { return "RelativeBias"; }
};

/// Doubles queries and shifts values.
struct Shifted : AttentionHook {
  AttentionHeads heads(const AttentionHeads& h) const override { return {2 * h.q, h.k, h.v + 1}; }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Shifted"; }
};

TEST(AttentionHook, AddsItsBias) {
  for (const Weighting weighting : {Weighting::softmax, Weighting::relu}) {
    const AttentionForm form{.weighting = weighting};
    const RelativeBias relative(2, 3);
    const auto plain = drawn({.dim = 4, .heads = 2, .form = form});
    auto hooked = drawn({.dim = 4, .heads = 2, .form = form, .hook = relative});
    hooked.eval();
    const Tensor x = gaussian({2, 3, 4}), head = unsqueeze(x, 1);
    const Tensor bias = relative.bias({head, head, head});
    EXPECT_EQ(bias.shape(), (Shape{2, 3, 3})) << "from the heads' T alone";
    const auto details = hooked.forward_with_weights(x, x, x);
    if (weighting == Weighting::softmax) {
      EXPECT_TRUE(all_close(hooked(x), plain(x, AttentionMask() + bias), 1e-13, 1e-13));
      EXPECT_TRUE(all_close(details.output, hooked(x), 1e-13, 1e-13));
    } else {
      const auto identity =
          drawn({.dim = 4, .heads = 2, .form = {.weighting = Weighting::identity}});
      const Tensor logits = identity.forward_with_weights(x, x, x).weights;
      EXPECT_TRUE(all_close(details.weights, relu(logits + bias), 1e-13, 1e-13));
    }
    EXPECT_FALSE(all_close(hooked(x), plain(x), 1e-3, 1e-3));
  }
}

TEST(AttentionHook, ChangesWhatHeadsSee) {
  const auto plain = drawn({.dim = 4, .heads = 2, .bias = false});
  const auto hooked = drawn({.dim = 4, .heads = 2, .bias = false, .hook = Shifted()});
  auto doubled = plain;
  doubled.query = 2 * plain.query;
  const Tensor x = gaussian({2, 3, 4});
  // weights sum to 1, so that every head's context is shifted by 1
  const Tensor shift = sum(flatten(plain.output, 0, 1), 0);
  EXPECT_TRUE(all_close(hooked(x), doubled(x) + shift, 1e-13, 1e-13));
}

TEST(AttentionHook, IsPartOfTheModule) {
  auto layer = drawn({.dim = 4, .heads = 2, .hook = RelativeBias(2, 3)});
  EXPECT_EQ(layer.state_dict().count("hook.table"), 1u);
  EXPECT_NE(layer.describe().find("RelativeBias"), std::string::npos);
  const Tensor x = gaussian({2, 3, 4});
  backward(sum(square(layer(x))));
  EXPECT_TRUE(layer.parameters().back().grad().defined());
  const auto copy = clone(layer);
  EXPECT_TRUE(all_equal(copy(x), layer(x)));
  fill_(layer.state_dict().at("hook.table"), 0);
  EXPECT_FALSE(all_equal(copy(x), layer(x)));
  test::expect_error([&] { to_torch(layer); }, "has a hook");
}

/// A change that changes nothing, and so knows its limit.
struct Harmless : Shifted {
  AttentionHeads heads(const AttentionHeads& h) const override { return h; }
  infinite::AttentionMap limit(const infinite::AttentionLimit& layer) const override {
    return infinite::attention_map(layer);
  }
};

TEST(AttentionHook, HasNoLimitUnlessItGivesOne) {
  const MultiHeadAttentionOptions plain{
      .dim = 4, .heads = 2, .form = {.weighting = Weighting::identity}, .projection_bias = false};
  auto options = plain;
  const Tensor x = gaussian({2, 3, 4});
  for (const bool relative : {false, true}) {
    options.hook = Shifted();
    if (relative) options.hook = RelativeBias(2, 3);
    test::expect_error([&] { infinite::limit(drawn(options))(x); },
                       relative ? "hook `RelativeBias`, which gives none" : "hook `Shifted`");
  }
  options.hook = Harmless();
  const auto expected = infinite::limit(drawn(plain))(x);
  EXPECT_TRUE(all_equal(infinite::limit(drawn(options))(x).ntk, expected.ntk));
}

}  // namespace
}  // namespace ladon::attention_hook_test
