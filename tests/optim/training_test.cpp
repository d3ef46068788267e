// Whole training runs of an attention classifier.

#include "ladon/autograd/graph.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::training_test {
namespace {

struct Classifier : Module {
  TransformerEncoderLayer encoder;
  Linear head;

  Classifier(std::int64_t heads, Generator& rng)
      : encoder({.dim = 8, .heads = heads, .hidden = 16, .dropout = 0.1}, rng),
        head({.in = 8, .out = 3}, rng) {}
  Tensor forward(const Tensor& x) const { return head(mean_positions(encoder(x))); }
  void visit(Visitor& v) override {
    v("encoder", encoder);
    v("head", head);
  }
  std::string describe() const override { return "Classifier"; }
};

using MakeMethod = std::function<std::unique_ptr<ParticleMethod>(Module& model)>;

/// The parameters after `steps` steps of Adam with the given method (or none).
StateDict trained(std::int64_t heads, const MakeMethod& make, DType dtype, int steps = 15) {
  Generator rng(1);
  Classifier model(heads, rng);
  model.to(dtype);
  const Tensor x = normal({12, 7, 8}, rng, 0, 1, dtype), y = randint({12}, rng, 0, 3);
  const auto method = make ? make(model) : nullptr;
  Adam adam(model.parameters(), {.lr = 1e-2});
  for (int t = 0; t < steps; ++t) {
    adam.zero_grad();
    backward(cross_entropy(model.forward(x), y));
    if (method) method->apply();
    clip_grad_norm(model.parameters(), 1);
    adam.step();
  }
  return model.state_dict();
}

bool same(const StateDict& a, const StateDict& b) {
  for (const auto& [name, value] : a)
    if (!same_bits(value, b.at(name))) return false;
  return a.size() == b.size();
}

MakeMethod svgd(SvgdOptions options) {
  return [=](Module& model) { return std::make_unique<Svgd>(particles(model), options); };
}

TEST(Training, OneHeadTrainsAsWithoutRepulsion) {
  for (const DType dtype : {f32, f64}) {
    const StateDict plain = trained(1, nullptr, dtype);
    EXPECT_TRUE(same(trained(1, svgd({}), dtype), plain));
    EXPECT_TRUE(same(trained(1, svgd({.smoothing = false}), dtype), plain));
    EXPECT_TRUE(same(trained(1, svgd(SvgdOptions::paper(0.5)), dtype), plain));
    EXPECT_TRUE(same(trained(
                         1, [](Module& m) { return std::make_unique<Wgd>(particles(m)); }, dtype),
                     plain));
  }
  EXPECT_FALSE(same(trained(2, svgd({}), f32), trained(2, nullptr, f32)));
}

TEST(Training, IsTheSameAtAnyNumberOfThreads) {
  const MakeMethod spos = [](Module& model) {
    return std::make_unique<Spos>(particles(model), SposOptions{.svgd = {.alpha = 0.1}},
                                  Generator(2));
  };
  const int before = num_threads();
  set_num_threads(1);
  const StateDict one = trained(4, spos, f32);
  set_num_threads(2);
  const StateDict two = trained(4, spos, f32);
  set_num_threads(before);
  EXPECT_TRUE(same(one, two));
}

}  // namespace
}  // namespace ladon::test::training_test
