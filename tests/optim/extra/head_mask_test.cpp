#include "ladon/optim/extra/penalties/head_mask.h"

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/layers/transformer/transformer.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::head_mask_test {
namespace {

MultiHeadAttention attention(std::int64_t heads, std::uint64_t seed = 1) {
  Generator rng(seed);
  MultiHeadAttention layer({.dim = 6, .heads = heads, .head_dim = 3}, rng);
  layer.to(f64);
  return layer;
}

/// An example's loss: the mean over its positions and channels of (y − target)².
Tensor losses_of(const Tensor& y, const Tensor& target) { return mean(square(y - target), {1, 2}); }

TEST(HeadMask, OfZeroIsAHeadWithoutOutputRows) {
  MultiHeadAttention layer = attention(4);
  const Tensor x = gaussian({2, 5, 6}), before = layer(x).detach();
  Tensor masked;
  {
    const HeadMask mask(layer, tensor({1, 0, 0.5, 1}));
    masked = layer(x).detach();
    EXPECT_GT(amax(abs(masked - before)).item(), 0.01);
  }
  EXPECT_TRUE(same_bits(layer(x), before));  // the mask has ended
  fill_(select(layer.output.detach(), 0, 1), 0);
  copy_(select(layer.output.detach(), 0, 2), 0.5 * select(layer.output.detach(), 0, 2));
  EXPECT_LT(amax(abs(layer(x).detach() - masked)).item(), 1e-14);
}

TEST(HeadMask, MayDifferBetweenExamples) {
  MultiHeadAttention layer = attention(2);
  const Tensor x = gaussian({2, 3, 6});
  const auto masked = [&](const Tensor& mask) {
    const HeadMask scope(layer, mask);
    return layer(x).detach();
  };
  const Tensor each = masked(tensor({1, 0, 0, 1}, {2, 2})), first = masked(tensor({1, 0})),
               second = masked(tensor({0, 1}));
  EXPECT_TRUE(same_bits(select(each, 0, 0), select(first, 0, 0)));
  EXPECT_TRUE(same_bits(select(each, 0, 1), select(second, 0, 1)));
}

TEST(HeadMask, HasATrueGradient) {
  MultiHeadAttention layer = attention(3);
  const Tensor x = gaussian({2, 4, 6}), target = gaussian({2, 4, 6}, 2);
  EXPECT_TRUE(gradcheck(
      [&](const std::vector<Tensor>& in) {
        const HeadMask mask(layer, in[0]);
        return losses_of(layer(x), target);
      },
      {leaf(tensor({1, 0.3, 0}, f64))}));
}

struct Doubled : AttentionHook {
  Tensor factor = parameter(scalar(2, f64));
  AttentionHeads heads(const AttentionHeads& h) const override { return {h.q, h.k, h.v * factor}; }
  void visit(Visitor& v) override { v("factor", factor); }
  std::string describe() const override { return "doubled"; }
};

TEST(HeadMask, CallsTheHookThatWasThereAndPutsItBack) {
  MultiHeadAttention layer = attention(2);
  layer.hook = Doubled();
  const AttentionHook* own = layer.hook.get();
  const Tensor x = gaussian({1, 3, 6}), before = layer(x).detach();
  {
    const HeadMask all(layer, ones({2}));
    EXPECT_TRUE(same_bits(layer(x), before));
    const HeadMask first(layer, tensor({0, 1}));
    EXPECT_FALSE(same_bits(layer(x), before));
    EXPECT_EQ(layer.parameter_count(), attention(2).parameter_count() + 1);
  }
  EXPECT_EQ(layer.hook.get(), own);
  EXPECT_TRUE(same_bits(layer(x), before));
}

// A copy that is made meanwhile is not of the scope, which could not take its mask out.
TEST(HeadMask, IsNotCopied) {
  for (const bool hooked : {false, true}) {
    MultiHeadAttention layer = attention(2);
    if (hooked) layer.hook = Doubled();
    Generator rng(3);
    const Tensor x = normal({2, 3, layer.query.size(2)}, rng, 0, 1, layer.query.dtype());
    const Tensor y = layer(x).detach();
    std::vector<std::string> names;
    for (const auto& [name, w] : layer.named_parameters()) names.push_back(name);
    const HeadMask outer(layer, tensor({0.5, 2})), mask(layer, tensor({0, 1}));
    const MultiHeadAttention copy = clone(layer);
    EXPECT_TRUE(all_close(copy(x), y));
    EXPECT_FALSE(all_close(layer(x), y));
    for (std::size_t i = 0; i < names.size(); ++i)
      EXPECT_EQ(copy.named_parameters()[i].first, names[i]);
  }
}

TEST(HeadMask, RefusesBadMasks) {
  MultiHeadAttention layer = attention(2);
  expect_error([&] { HeadMask(layer, ones({3})); }, "floating [2] or [batch, 2], got f32");
  expect_error([&] { HeadMask(layer, ones({2}, i64)); }, "got i64");
  expect_error([&] { HeadMask(layer, Tensor()); }, "[HeadMask]");
  EXPECT_FALSE(layer.hook);
  const HeadMask mask(layer, ones({3, 2}));
  expect_error(
      [&] {
        layer(gaussian({2, 3, 6}));
      },
      "but is [3, 2], and the layer was called with a batch of 2");
}

// mean_b |⟨context_bh, ∂loss_b/∂context_bh⟩| from the layer's own details.
TEST(HeadImportance, IsTheProductOfContextAndGradient) {
  MultiHeadAttention layer = attention(4);
  const Tensor x = gaussian({3, 5, 6}), target = gaussian({3, 5, 6}, 2);
  const Tensor importance = head_importance(layer, [&] { return losses_of(layer(x), target); });
  const auto details = layer.forward_with_weights(x, x, x);
  const Tensor g = grad(sum(losses_of(details.output, target)), details.contexts);
  const Tensor expected = mean(abs(sum(details.contexts.detach() * g, {2, 3})), 0);
  expect_values(importance, expected.to_vector(), 1e-14);
  EXPECT_FALSE(layer.output.grad().defined());
  EXPECT_FALSE(layer.hook);
}

// Two calls of one layer: an example's derivative is that of both together.
TEST(HeadImportance, AddsTheCallsOfASharedLayer) {
  MultiHeadAttention layer = attention(2);
  const Tensor x = gaussian({2, 3, 6}), target = gaussian({2, 3, 6}, 2);
  const auto losses = [&] { return losses_of(layer(layer(x)), target); };
  const double step = 1e-6;
  const auto derivative = [&](const Tensor& direction) {
    const auto at = [&](double t) {
      const HeadMask mask(layer, 1.0 + t * direction);
      return losses().detach();
    };
    return (at(step) - at(-step)) / (2 * step);
  };
  const Tensor importance = head_importance(layer, losses);
  expect_values(importance,
                {mean(abs(derivative(tensor({1, 0}, f64)))).item(),
                 mean(abs(derivative(tensor({0, 1}, f64)))).item()},
                1e-8);
}

// Heads of one kind that write into the output with weights of very different size, in a model
// around them. To first order removing head h changes an example's loss by −∂loss/∂mask_h: small
// contributions make this nearly exact, and the order is that of the weights.
TEST(HeadImportance, RanksHeadsAsTheirRemovalDoes) {
  Generator rng(7);
  const std::int64_t heads = 5;
  TransformerEncoder model({.layer = {.dim = 10, .heads = heads, .dropout = 0}, .layers = 2}, rng);
  model.to(f64);
  MultiHeadAttention& layer = model.layers[0].attention;
  const double sizes[] = {0.01, 1e-5, 1e-4, 1e-6, 1e-3};
  for (std::int64_t h = 0; h < heads; ++h) {
    Tensor rows = select(layer.output.detach(), 0, h);
    copy_(rows, rows * sizes[h]);
  }
  const Tensor x = gaussian({6, 4, 10}), target = gaussian({6, 4, 10}, 2);
  const auto losses = [&] { return losses_of(model(x), target); };
  const auto importance = head_importance(layer, losses).to_vector();
  const Tensor whole = losses().detach();
  std::vector<double> change;
  for (std::int64_t h = 0; h < heads; ++h) {
    const HeadMask without(layer, 1.0 - select(eye(heads, f64), 0, h));
    change.push_back(mean(abs(losses().detach() - whole)).item());
    EXPECT_NEAR(importance[h] / change[h], 1, 0.05) << h;
  }
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t g = 0; g < heads; ++g)
      EXPECT_EQ(importance[h] < importance[g], sizes[h] < sizes[g]) << h << " and " << g;
}

TEST(HeadImportance, RefusesLossesThatDoNotFit) {
  MultiHeadAttention layer = attention(2);
  const Tensor x = gaussian({3, 4, 6});
  expect_error([&] { head_importance(layer, {}); }, "is empty");
  expect_error([&] { head_importance(layer, [&] { return zeros({3}); }); },
               "did not call the layer");
  expect_error([&] { head_importance(layer, [&] { return mean(layer(x)); }); }, "must be [3]");
  expect_error([&] { head_importance(layer, [&] {
                       return sum(layer(x), {1, 2}).detach();
                     }); },
               "record no history");
  expect_error(
      [&] {
        head_importance(layer, [&] {
          layer(slice(x, 0, {.stop = 2}));
          return sum(layer(x), {1, 2});
        });
      },
      "was called with batches of 2 and 3");
  EXPECT_FALSE(layer.hook);
}

}  // namespace
}  // namespace ladon::test::head_mask_test
