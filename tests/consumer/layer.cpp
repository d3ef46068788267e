// A layer from outside, with its limit: LayerScale (Touvron et al. 2021, "Going deeper with image
// transformers"), y = s ∘ x for a trained s that begins at λ in every channel.

#include "expect_limit.h"
#include "ladon/layers/parameter_uses.h"
using namespace ladon;

struct LayerScale : Layer {
  double lambda;
  Tensor scale;  // [dim]
  LayerScale(std::int64_t dim, double l) : lambda(l), scale(parameter(full({dim}, l))) {}

  Tensor forward(const Tensor& x) const override {
    const Tensor y = x * scale;
    ParameterUses::report(
        y, [x = x.detach()](const Tensor& delta) {  // ∂/∂s = Σ_t x_t ∘ δ_t: [batch, dim]
          return sum(reshape(x * delta, {x.size(0), -1, x.size(-1)}), 1);
        });
    return y;
  }
  bool per_position() const override { return true; }
  // k' = λ²k, t' = λ²t + k. In channel c the last is x_c·x'_c, which is k on average alone.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override {
    const infinite::Step step{.makes = k.law.after_trained_scale(k.ntk())};
    return infinite::map_pairs(k, step, [this](const infinite::Pairs& pairs) {
      auto y = pairs.each([this](const Tensor& block) { return lambda * lambda * block; });
      if (y.ntk.defined()) y.ntk = y.ntk + pairs.nngp;
      return y;
    });
  }
  void visit(Visitor& v) override { v("scale", scale); }
  std::string describe() const override { return "LayerScale"; }
};

int main() {
  expect_limit([] { return LayerScale(512, 0.7); });
  // Of data nothing is known, and scaling does not change that: relu asks for Gaussian channels.
  const Sequential net(LayerScale(3, 0.7), Activation(Nonlinearity::relu));
  expect_error("the limit needs Gaussian inputs", [&] { infinite::limit(net)(ones({2, 3})); });
}
