// A variant of attention from outside: ALiBi (Press, Smith and Lewis 2022). Head h adds
// −2^(−8h/H)·|a − b| to the logit of query a and key b, so that near keys weigh more.

#include "expect.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"

using namespace ladon;

struct Alibi : AttentionHook {
  Tensor bias(const AttentionHeads& h) const override {
    const std::int64_t heads = h.q.size(1), queries = h.q.size(2), keys = h.k.size(2);
    const Tensor number = arange(1.0, static_cast<double>(heads) + 1);
    const Tensor slopes = exp(std::log(2.0) * -8.0 / static_cast<double>(heads) * number);
    const Tensor distance = abs(unsqueeze(arange(queries), 1) - arange(keys));
    return cast(reshape(slopes, {heads, 1, 1}) * -distance, h.q.dtype());  // [heads, Tq, Tk]
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "ALiBi"; }
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
  // Where all weights are 0 the bias alone is left: w_ab ∝ exp(−slope·|a − b|).
  const Tensor weights = layer.forward_with_weights(x, x, x).weights;
  for (const std::int64_t h : {0, 1}) {
    const double near = std::exp(h == 0 ? -1.0 / 16 : -1.0 / 256), far = near * near;
    expect_near("the weight of the farthest key", at(weights, {0, h, 0, 2}).item(),
                far / (1 + near + far), 1e-6);
  }
  // It has no limit, since nobody gave it one, and says so.
  expect_error("hook `ALiBi`, which gives none", [&] { infinite::limit(layer)(x); });
}
