// User-defined extensions, which the library treats as its own: a layer with its infinite-width
// limit, a nonlinearity with its dual activation, and an attention hook without a limit. A network
// of them is compared with its limit, its heads are trained by SVGD, and the layer replaces another
// in an encoder.

#include <iostream>

#include "ladon/ladon.h"
#include "program.h"

using namespace ladon;

/// y = s·x for one trained number s that begins at 1:  k' = k, and t' = t + k.
struct Loudness : Layer {
  Tensor s = parameter(ones({1}));
  Tensor forward(const Tensor& x) const override {
    const Tensor y = x * s;
    ParameterUses::report(y, [x = x.detach()](const Tensor& delta) {
      return reshape(sum(flatten(x * delta, 1, -1), 1), {x.size(0), 1});
    });
    return y;
  }
  bool per_position() const override { return true; }
  infinite::KernelNode limit(const infinite::KernelNode& k) const override {
    const infinite::Step step{.makes = k.law.after_trained_scale(k.ntk())};
    return infinite::map_pairs(k, step, [](const infinite::Pairs& pairs) {
      auto y = pairs.each([](const Tensor& block) { return block; });
      if (y.ntk.defined()) y.ntk = y.ntk + pairs.nngp;
      return y;
    });
  }
  void visit(Visitor& v) override { v("s", s); }
  std::string describe() const override { return "Loudness"; }
};

/// Attention hook by which each head prefers the first tokens; heads with higher numbers do so
/// less.
struct FirstComes : AttentionHook {
  Tensor bias(const AttentionHeads& h) const override {
    const Tensor heads = reshape(arange(1.0, double(h.q.size(1)) + 1), {h.q.size(1), 1, 1});
    return cast(-1.0 * arange(0.0, double(h.k.size(2))) / heads, h.q.dtype());
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "FirstComes"; }
};

Tensor ricker(const Tensor& x) { return x * exp(-0.5 * square(x)); }
Tensor ricker_dual(const Tensor& p, const Tensor& q, const Tensor& c) {
  return c * pow((1 + p) * (1 + q) - square(c), -1.5);
}

int main() {
  const auto wide = [](Generator& rng) {
    const auto linear = [&](std::int64_t in) {
      return Linear({.in = in, .out = 256, .parameterization = Parameterization::ntk}, rng);
    };
    return std::make_unique<Sequential>(
        linear(5), Elementwise(infinite::DualFunction::closed("ricker", ricker, ricker_dual)),
        linear(256), Loudness(), linear(256));
  };
  Generator rng(1);
  const Tensor x = normal({3, 5}, rng, 0, 1, f64);
  const auto networks = infinite::monte_carlo_kernel(wide, x, x, {.draws = 200}, rng);
  const infinite::Kernel limit = infinite::limit(*wide(rng))(x);
  const double nngp = amax(abs(networks.nngp - limit.nngp) / networks.nngp_se).item(),
               ntk = amax(abs(networks.ntk - limit.ntk) / networks.ntk_se).item();
  std::cout << "200 networks of width 256: largest error / standard error " << nngp << " and "
            << ntk << '\n';

  TransformerEncoder model(
      {.layer = {.dim = 16, .heads = 4, .attention = {.hook = FirstComes()}}, .layers = 1}, rng);
  replace(model, "final_norm", Loudness());
  model.eval();
  const Tensor text = normal({8, 6, 16}, rng), wanted = normal({8, 6, 16}, rng);
  try {
    infinite::limit(model)(text);
    expect(false, "a hook without a limit has one");
  } catch (const Error& refused) {
    std::cout << refused.what() << '\n';
  }
  const auto trained = [&](auto& m, bool repel) {
    Svgd svgd(particles(m), {.target = {.count = 8}});
    Adam adam(m.parameters(), {.lr = 1e-2});
    for (int step = 0; step < 60; ++step) {
      adam.zero_grad();
      backward(mse_loss(m(text), wanted));
      if (repel) svgd.apply();
      adam.step();
    }
    return pairwise_distance(particles(m)[0].values()).mean;
  };
  TransformerEncoder twin = clone(model);
  const double apart = trained(model, true), alone = trained(twin, false);
  std::cout << "mean distance of heads: " << apart << " by SVGD, " << alone << " without\n";
  expect(nngp < 4.5 && ntk < 4.5 && apart > alone,
         "the limit is another, or heads are not kept apart");
}
