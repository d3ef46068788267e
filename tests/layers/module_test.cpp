// What derives from visit(): names, parameters, state dict, files, dtype, mode.

#include "ladon/layers/module.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon {
namespace {

struct Pair : Layer {
  Linear first, second;
  Tensor shift = zeros({2});
  explicit Pair(Generator& rng)
      : first({.in = 3, .out = 4}, rng), second({.in = 4, .out = 2}, rng) {}
  Tensor forward(const Tensor& x) const override { return second(relu(first(x))) + shift; }
  void visit(Visitor& v) override {
    v("first", first);
    v("second", second);
    v.buffer("shift", shift);
  }
  std::string describe() const override { return "Pair"; }
};

std::vector<std::string> names(const StateDict& state) {
  std::vector<std::string> names;
  for (const auto& [name, x] : state) names.push_back(name);
  return names;
}

TEST(Module, NamesComeFromTheListing) {
  Generator rng(1);
  Pair model(rng);
  std::vector<std::string> paths;
  for (const auto& [name, x] : model.named_parameters()) paths.push_back(name);
  EXPECT_EQ(paths, (std::vector<std::string>{"first.weight", "first.bias", "second.weight",
                                             "second.bias"}));
  EXPECT_EQ(names(model.state_dict()),
            (std::vector<std::string>{"first.bias", "first.weight", "second.bias", "second.weight",
                                      "shift"}));
  EXPECT_EQ(model.parameter_count(), 3 * 4 + 4 + 4 * 2 + 2);
  EXPECT_NE(model.summary().find("Linear(3 → 4)"), std::string::npos);
}

TEST(Module, AnAssignedMemberIsSeen) {
  Generator rng(1);
  Pair model(rng);
  model.first.weight = parameter(ones({4, 3}));
  EXPECT_TRUE(all_equal(model.parameters()[0], ones({4, 3})));
}

TEST(Module, ASharedParameterComesOnce) {
  Generator rng(1);
  Pair model(rng);
  model.second.bias = parameter(zeros({4}));
  model.first.bias = model.second.bias;
  EXPECT_EQ(model.parameters().size(), 3u);
}

TEST(Module, StateTravelsThroughAFile) {
  Generator rng(1), other(2);
  Pair a(rng), b(other);
  const test::TemporaryFolder folder;
  a.save(folder / "model.safetensors");
  b.load(folder / "model.safetensors");
  const Tensor x = normal({5, 3}, rng);
  EXPECT_TRUE(all_equal(a(x), b(x)));
}

TEST(Module, AFailedLoadLeavesTheModelAsItWas) {
  Generator rng(1);
  Pair model(rng);
  const Tensor before = clone(model.first.weight.detach());
  StateDict state = model.state_dict();
  for (auto& [name, x] : state) x = x + 1.0;
  StateDict missing = state, extra = state, reshaped = state;
  missing.erase("second.bias");
  extra["third.weight"] = zeros({1});
  reshaped["second.bias"] = zeros({3});
  test::expect_error([&] { model.load_state_dict(missing); },
                     "`second.bias` (shape [2]) is missing");
  test::expect_error([&] { model.load_state_dict(extra); }, "`third.weight` (shape [1])");
  test::expect_error([&] { model.load_state_dict(reshaped); }, "shape [3] in the state and [2]");
  reshaped["second.bias"] = Tensor();
  test::expect_error([&] { model.load_state_dict(reshaped); }, "shape [] in the state and [2]");
  EXPECT_TRUE(all_equal(model.first.weight, before));
}

TEST(Module, LoadsTensorsThatRequireGradients) {
  Generator rng(1), other(2);
  Pair a(rng), b(other);
  StateDict state = a.state_dict();
  for (const auto& [name, x] : a.named_parameters()) state[name] = x;
  b.load_state_dict(state);
  EXPECT_TRUE(all_equal(b.second.weight, a.second.weight));
}

TEST(Module, ConvertsAndKeepsTraining) {
  Generator rng(1);
  Pair model(rng);
  model.to(f64);
  for (const Tensor& x : model.parameters()) {
    EXPECT_EQ(x.dtype(), f64);
    EXPECT_TRUE(x.requires_grad());
  }
  EXPECT_EQ(model.shift.dtype(), f64);
  test::expect_error([&] { model.to(i64); }, "not in i64");
}

TEST(Module, ConversionKeepsSharedParametersShared) {
  Generator rng(1);
  Linear a({.in = 2, .out = 2}, rng), b = a;
  struct Two : Module {
    std::vector<Linear> list;
    void visit(Visitor& v) override { v("list", list); }
    std::string describe() const override { return "Two"; }
  } two;
  two.list = {a, b};
  two.to(f64);
  EXPECT_EQ(two.parameters().size(), 2u);
  EXPECT_EQ(two.list[0].weight.history(), two.list[1].weight.history());
}

TEST(Module, ModeReachesEveryLayer) {
  Generator rng(1);
  TransformerEncoder model({.layer = {.dim = 4, .heads = 2}, .layers = 2}, rng);
  model.eval();
  EXPECT_FALSE(model.layers[1].dropout.training());
  model.train();
  EXPECT_TRUE(model.layers[1].dropout.training());
}

TEST(Module, ZeroGradClears) {
  Generator rng(1);
  Pair model(rng);
  backward(sum(model(normal({5, 3}, rng))));
  EXPECT_TRUE(model.first.weight.grad().defined());
  model.zero_grad();
  EXPECT_FALSE(model.first.weight.grad().defined());
}

TEST(Dropout, DrawsInTrainingOnly) {
  Generator rng(1);
  Dropout layer(0.25, rng);
  const Tensor x = ones({40000});
  const Tensor y = layer(x);
  // Kept elements are 1/0.75; the kept share is 0.75 ± 5 standard errors.
  const double kept = sum(not_equal(y, 0)).item() / 40000;
  EXPECT_NEAR(kept, 0.75, 5 * std::sqrt(0.75 * 0.25 / 40000));
  EXPECT_FLOAT_EQ(amax(y).item<float>(), 1 / 0.75f);
  EXPECT_FALSE(all_equal(y, layer(x))) << "two calls draw different masks";
  layer.eval();
  EXPECT_TRUE(all_equal(layer(x), x));
  test::expect_error([&] { Dropout(1.5, rng); }, "got 1.5");
}

}  // namespace
}  // namespace ladon
