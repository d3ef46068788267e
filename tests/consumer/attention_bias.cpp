// Variants of attention from outside. ALiBi (Press, Smith and Lewis 2022): head h adds
// −2^(−8h/H)·|a − b| to the logit of query a and key b, so that near keys weigh more. And a variant
// whose infinite-width limit is known: with linear scaling the logits of wide heads equal their
// mean, which is the bias if all heads have the same bias.

#include "expect_limit.h"

using namespace ladon;

Tensor distances(std::int64_t queries, std::int64_t keys) {
  return cast(abs(unsqueeze(arange(queries), 1) - arange(keys)), f64);
}

struct Alibi : AttentionHook {
  Tensor bias(const AttentionHeads& h) const override {
    const std::int64_t heads = h.q.size(1);
    const Tensor number = arange(1.0, static_cast<double>(heads) + 1);
    const Tensor slopes = exp(std::log(2.0) * -8.0 / static_cast<double>(heads) * number);
    const Tensor away = distances(h.q.size(2), h.k.size(2));
    return cast(reshape(slopes, {heads, 1, 1}) * -away, h.q.dtype());  // [heads, Tq, Tk]
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "ALiBi"; }
};

struct OneSlope : AttentionHook {
  Tensor bias(const AttentionHeads& h) const override {
    return cast(-0.5 * distances(h.q.size(2), h.k.size(2)), h.q.dtype());
  }
  infinite::AttentionMap limit(const infinite::AttentionLimit&) const override {
    return [](const auto& layer, const infinite::Pairs& seen, const infinite::Pairs& values) {
      const std::int64_t t = seen.nngp.size(-1);
      const Tensor logits = -0.5 * distances(t, t);
      return infinite::given_weights(layer, weights_of(layer, logits, seen.left_mask),
                                     weights_of(layer, logits, seen.right_mask), values);
    };
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "OneSlope"; }
};

int main() {
  Generator rng(1);
  MultiHeadAttention layer({.dim = 8,
                            .heads = 2,
                            .projection_bias = false,
                            .hook = Alibi(),
                            .prior = {.init = Init::zeros}},
                           rng);
  const Tensor x = normal({1, 3, 8}, rng);
  // With all weights 0 the bias alone is left: w_ab ∝ exp(−slope·|a − b|).
  const Tensor weights = layer.forward_with_weights(x, x, x).weights;
  for (const std::int64_t h : {0, 1}) {
    const double near = std::exp(h == 0 ? -1.0 / 16 : -1.0 / 256), far = near * near;
    expect_near("the weight of the farthest key", at(weights, {0, h, 0, 2}).item(),
                far / (1 + near + far), 1e-6);
  }
  // It has no limit, since nobody gave it one, and says so.
  expect_error("hook `ALiBi`, which gives none", [&] { infinite::limit(layer)(x); });

  // Padding, causality and a window are the layer's: the hook's limit does not see to them. (Inputs
  // are small, so that logits of 512 channels are near their mean.)
  const Tensor mask = cast(tensor({1, 1, 1, 1, 1, 1, 1, 0}, {2, 4}), boolean);
  for (const bool causal : {false, true}) {
    MultiHeadAttentionOptions options{.dim = 512, .heads = 1, .head_dim = 512, .causal = causal};
    options.window = causal ? 2 : 0;
    options.form.scaling = AttentionScaling::linear;
    options.hook = OneSlope();
    options.prior.parameterization = Parameterization::ntk;
    expect_limit([&] { return MultiHeadAttention(options, rng); },
                 {normal({2, 4, 3}, rng, 0, 0.4, f64), mask}, 100);
  }
}
