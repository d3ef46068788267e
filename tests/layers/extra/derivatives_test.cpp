// Derivatives of whole models: directional derivatives by all parameters, gradients per example,
// and gradients of several models at once.

#include "ladon/autograd/extra/transforms/forward.h"
#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/extra/state/functional_call.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::test::derivatives_test {
namespace {

Tensor random(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

/// Words to class scores: [B, T] → [B, 3].
struct Classifier : Module {
  explicit Classifier(Generator rng)
      : words({.count = 7, .dim = 8}, rng),
        encoder({.dim = 8, .heads = 2, .hidden = 16, .dropout = 0}, rng),
        scores({.in = 8, .out = 3}, rng) {
    to(f64);
  }
  void visit(Visitor& v) override {
    v("words", words);
    v("encoder", encoder);
    v("scores", scores);
  }
  std::string describe() const override { return "Classifier"; }
  Tensor forward(const Tensor& tokens) const {
    return scores.forward(mean(encoder.forward(words.forward(tokens)), 1));
  }

  Embedding words;
  TransformerEncoderLayer encoder;
  Linear scores;
};

const Tensor tokens = tensor({0, 3, 6, 2, 2, 1, 5, 4, 3, 0, 0, 6}, {4, 3}, i64);
const Tensor labels = tensor({0, 2, 1, 1}, i64);

TEST(ModelDerivatives, AlongADirectionOfAllParameters) {
  Classifier model(Generator(1));
  const auto loss = [&] { return cross_entropy(model.forward(tokens), labels); };
  backward(loss());
  std::vector<Tensor> values, tangents;
  double reverse = 0;
  for (const Tensor& p : model.parameters()) {
    values.push_back(p.detach());
    tangents.push_back(random(p.shape(), values.size()));
    reverse += sum(p.grad() * tangents.back()).item();
  }
  const auto f = [&](const std::vector<Tensor>& at) { return functional_call(model, at, loss); };
  EXPECT_NEAR(jvp(f, values, tangents).tangent.item(), reverse, 1e-10);
}

TEST(ModelDerivatives, OfEachExample) {
  const Classifier model(Generator(1));
  const std::vector<Tensor> parameters = model.parameters();
  const auto loss = [&](const std::vector<Tensor>& one) {
    return cross_entropy(squeeze(model.forward(unsqueeze(one[0], 0)), 0), one[1]);
  };
  const std::vector<Tensor> all = per_example_gradients(loss, {tokens, labels}, parameters);
  for (std::int64_t i = 0; i < 4; ++i) {
    const Tensor alone = loss({select(tokens, 0, i), select(labels, 0, i)});
    const std::vector<Tensor> want = grad({alone}, parameters);
    for (std::size_t k = 0; k < parameters.size(); ++k)
      EXPECT_TRUE(all_close(select(all[k], 0, i), want[k], 1e-9, 1e-12)) << i << ", " << k;
  }
}

TEST(ModelDerivatives, OfAnEnsembleInOnePass) {
  Classifier model(Generator(1));
  std::vector<Classifier> members;
  for (std::uint64_t seed = 0; seed < 3; ++seed) members.emplace_back(Generator(seed));
  const auto f = [&](const std::vector<Tensor>& at) {
    return functional_call(model, at, [&] { return model.forward(tokens); });
  };
  const Tensor scores = vmap(f, stack_parameters({members.begin(), members.end()}));
  ASSERT_EQ(scores.shape(), (Shape{3, 4, 3}));
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_TRUE(all_close(select(scores, 0, i),
                          members[static_cast<std::size_t>(i)].forward(tokens), 1e-10, 1e-12));
}

TEST(ModelDerivatives, FunctionalCallPutsTheParametersBack) {
  Classifier model(Generator(1));
  const std::vector<Tensor> before = model.parameters();
  std::vector<Tensor> values;
  for (const Tensor& p : before) values.push_back(zeros_like(p));
  const auto fails = [&]() -> Tensor { detail::fail("test", "on purpose"); };
  expect_error([&] { functional_call(model, values, fails); }, "on purpose");
  const std::vector<Tensor> after = model.parameters();
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_TRUE(same_elements(before[i], after[i]) && before[i].history() == after[i].history());
  const auto nothing = [] { return Tensor(); };
  values.pop_back();
  expect_error([&] { functional_call(model, values, nothing); }, "values for");
  values.push_back(ones({4}, f64));
  expect_error([&] { functional_call(model, values, nothing); },
               "its value must be the same; got f64 of shape [4]");
  values.back() = zeros({3}, f64);
  values.push_back(zeros({3}, f64));
  expect_error([&] { functional_call(model, values, nothing); }, "values for");
}

// One call inside another, of plain values, of dual numbers and of examples: the inner values stand
// in the places of the part, however many parameters have their shape.
TEST(ModelDerivatives, FunctionalCallsNest) {
  Generator rng(1);
  Sequential model(Linear({.in = 3, .out = 3}, rng), Linear({.in = 3, .out = 3}, rng));
  model.to(f64);
  const Tensor x = random({2, 3}, 3);
  const auto part = [&] { return model.choose("layers.1.*"); };
  std::vector<Tensor> outer, inner;
  for (const Tensor& p : model.parameters()) outer.push_back(random(p.shape(), 4 + outer.size()));
  for (const Tensor& p : part().tensors()) inner.push_back(random(p.shape(), 9 + inner.size()));
  const auto nested = [&](const std::vector<Tensor>& at) {
    return functional_call(
        model, at, [&] { return functional_call(model, part(), inner, [&] { return model(x); }); });
  };
  const Tensor want = linear(linear(x, outer[0], outer[1]), inner[0], inner[1]);
  EXPECT_TRUE(all_close(nested(outer), want, 1e-12, 1e-14));
  std::vector<Tensor> directions, members;
  for (const Tensor& w : outer) {
    directions.push_back(ones_like(w));
    members.push_back(stack({w, 2 * w}, 0));
  }
  const Tensor along = linear(jvp([&](const auto& in) { return linear(x, in[0], in[1]); },
                                  {outer[0], outer[1]}, {directions[0], directions[1]})
                                  .tangent,
                              inner[0]);
  EXPECT_TRUE(all_close(jvp(nested, outer, directions).tangent, along, 1e-12, 1e-14));
  EXPECT_TRUE(all_close(select(vmap(nested, members), 0, 0), want, 1e-12, 1e-14));
  outer[3] = outer[1];
  expect_error(
      [&] {
        functional_call(model, outer,
                        [&] { return functional_call(model, outer, [&] { return model(x); }); });
      },
      "got 4 values for 3 parameters; a tensor with several names counts once");
  const Tensor w = model.parameters()[1];
  expect_error(
      [&] {
        functional_call(model, {{"layers.0.bias", w}, {"again", w}}, {outer[1], outer[1]},
                        [&] { return model(x); });
      },
      "are one tensor");
}

}  // namespace
}  // namespace ladon::test::derivatives_test
