// Functions of Module that are based on visit(): names, parameters, state dict, files, dtype, mode.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/layers/layer.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::module_test {
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
  test::expect_error(
      [&] { model.load_state_dict(missing); },
      "`second.bias` (shape [2]) is missing from the state; the state begins with `first.bias`");
  test::expect_error([&] { model.load_state_dict(extra); }, "`third.weight` (shape [1])");
  test::expect_error([&] { model.load_state_dict(reshaped); }, "shape [3] in the state and [2]");
  reshaped["second.bias"] = Tensor();
  test::expect_error([&] { model.load_state_dict(reshaped); }, "shape [] in the state and [2]");
  EXPECT_TRUE(all_equal(model.first.weight, before));
  StateDict huge = state;
  for (auto& [name, x] : huge) x = cast(x, f64);
  fill_(huge["second.bias"], 1e39);
  test::expect_error([&] { model.load_state_dict(huge); },
                     "`second.bias` has finite elements beyond the range of f32");
  EXPECT_TRUE(all_equal(model.first.weight, before));
}

TEST(Module, ALoadIntoAnExpandedTensorLeavesTheOthers) {
  Generator rng(1);
  Linear from({.in = 2, .out = 3}, rng), to({.in = 2, .out = 3}, rng);
  for (Tensor* odd : {&to.bias, &to.weight}) {
    const Tensor kept = *odd, bias = clone(to.bias.detach()), weight = clone(to.weight.detach());
    *odd = expand(zeros(odd == &to.bias ? Shape{1} : Shape{1, 1}), odd->shape());
    const Tensor other = odd == &to.bias ? weight : bias;
    test::expect_error([&] { to.load_state_dict(from.state_dict()); }, "is expanded: axis");
    EXPECT_TRUE(all_equal(odd == &to.bias ? to.weight.detach() : to.bias.detach(), other));
    *odd = kept;
  }
}

TEST(Module, LoadsTensorsThatRequireGradients) {
  Generator rng(1), other(2);
  Pair a(rng), b(other);
  StateDict state = a.state_dict();
  for (const auto& [name, x] : a.named_parameters()) state[name] = x;
  b.load_state_dict(state);
  EXPECT_TRUE(all_equal(b.second.weight, a.second.weight));
}

TEST(Module, LoadsHalvesAndOtherFloatsByCasting) {
  Generator rng(1), other(2);
  const test::TemporaryFolder folder;
  for (const DType dtype : {bf16, f16, f64}) {
    Pair model(rng), loaded(other);
    StateDict state = model.state_dict();
    for (auto& [name, x] : state) x = cast(x, dtype);
    save_safetensors(folder / "half.safetensors", state);
    loaded.load(folder / "half.safetensors");
    EXPECT_EQ(loaded.first.weight.dtype(), f32);
    EXPECT_TRUE(loaded.first.weight.requires_grad());
    EXPECT_TRUE(all_equal(loaded.first.weight, cast(cast(model.first.weight, dtype), f32)));
    state["second.bias"] = zeros({2}, i64);
    test::expect_error([&] { loaded.load_state_dict(state); },
                       "`second.bias` is i64 in the state and f32 in the module");
  }
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
  test::expect_error([&] { model.to(bf16); }, "not in bf16");
}

TEST(Module, ConversionRefusesARecordedMemberBeforeItChangesAnything) {
  Generator rng(1);
  Pair model(rng);
  model.second.weight = model.second.weight * 0.5;
  test::expect_error([&] { model.to(f64); }, "`second.weight` is a recorded result");
  EXPECT_EQ(model.first.weight.dtype(), f32);
  model.second.weight = parameter(model.second.weight.detach());
  model.to(f64);
  EXPECT_EQ(model.second.weight.dtype(), f64);
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

TEST(Module, ConversionTellsWhoHoldsTheOldParameters) {
  Generator rng(1);
  Pair model(rng);
  const Tensor old = model.first.weight;
  Leaf::of(old)->check_in_place("step");
  model.to(f32);  // nothing to convert
  Leaf::of(old)->check_in_place("step");
  model.to(f64);
  test::expect_error([&] { Leaf::of(old)->check_in_place("step"); }, "replaced by Module::to(f64)");
}

TEST(Module, IsLookedAtWithoutBeingChanged) {
  Generator rng(1);
  const Pair model(rng);
  EXPECT_EQ(model.parameters().size(), 4u);
  EXPECT_EQ(model.named_parameters()[0].first, "first.weight");
  EXPECT_EQ(model.state_dict().size(), 5u);
  EXPECT_EQ(model.parameter_count(), 26);
  EXPECT_TRUE(model.hyperparameters().empty());
  EXPECT_EQ(model.path_of(model.second), "second");
  EXPECT_EQ(model.path_of(model), "");
  EXPECT_FALSE(model.path_of(Pair(rng)));
}

TEST(Module, SummaryIsAlignedWhateverTheLetters) {
  Generator rng(1);
  const std::string table = Pair(rng).summary();
  std::istringstream lines(table);
  std::size_t width = 0;
  for (std::string line; std::getline(lines, line);) {
    std::size_t characters = 0;
    for (const char c : line) characters += (c & 0xC0) != 0x80;
    if (width == 0) width = characters;
    EXPECT_EQ(characters, width) << table;
  }
}

TEST(Module, SummaryOfAnInputFindsWhatTheListingForgot) {
  struct Forgetful : Layer {
    Linear kept, forgotten;
    explicit Forgetful(Generator& rng)
        : kept({.in = 3, .out = 3}, rng), forgotten({.in = 3, .out = 2, .bias = false}, rng) {}
    Tensor forward(const Tensor& x) const override { return forgotten(kept(x)); }
    void visit(Visitor& v) override { v("kept", kept); }
    std::string describe() const override { return "Forgetful"; }
  };
  Generator rng(1);
  const Forgetful model(rng);
  const Tensor x = ones({1, 3}).set_requires_grad();
  EXPECT_NE(model.summary(x).find("not listed by visit(): a trained tensor of shape [2, 3]"),
            std::string::npos)
      << model.summary(x);
  EXPECT_EQ(model.unlisted(model(x), {x}).size(), 1u);
  EXPECT_EQ(Pair(rng).summary(x).find("not listed"), std::string::npos);
}

TEST(Clone, IsIndependent) {
  Generator rng(1);
  Sequential model(Linear({.in = 3, .out = 4}, rng),
                   Residual(0.5, Linear({.in = 4, .out = 4}, rng)), Dropout(0.5, rng));
  Sequential first = clone(model, 0), second = clone(model, 1);
  const Tensor x = normal({50, 3}, rng);
  EXPECT_FALSE(all_equal(first(x), second(x))) << "masks of their own";
  for (Sequential* m : {&model, &first, &second}) m->eval();
  const Tensor before = model(x);
  EXPECT_TRUE(all_equal(first(x), before));
  backward(sum(model(x)));
  for (const Tensor& p : first.parameters()) {
    EXPECT_TRUE(p.requires_grad());
    EXPECT_FALSE(p.grad().defined());
    fill_(p.detach(), 0);
  }
  EXPECT_TRUE(all_equal(model(x), before));
  EXPECT_TRUE(all_equal(second(x), before));
  const Sequential copy = model;  // a plain copy shares what it holds
  EXPECT_EQ(copy.parameters()[0].history(), model.parameters()[0].history());
}

TEST(Clone, KeepsWhatIsSharedInsideSharedAndHyperparameters) {
  Generator rng(1);
  Pair model(rng);
  model.second.bias = parameter(zeros({4}));
  model.first.bias = model.second.bias;
  const Pair copy = clone(model);
  EXPECT_EQ(copy.first.bias.history(), copy.second.bias.history());
  EXPECT_NE(copy.first.bias.history(), model.first.bias.history());
  EXPECT_FALSE(copy.shift.storage() == model.shift.storage());
  Linear wide({.in = 3, .out = 4, .parameterization = Parameterization::ntk}, rng);
  const Linear other = clone(wide);
  EXPECT_FALSE(other.weight_std.storage() == wide.weight_std.storage());
  EXPECT_EQ(other.weight_std.item(), 1);
}

TEST(Clone, RefusesWhatHasNoCopies) {
  Generator rng(1);
  Sequential model;
  model.append(std::unique_ptr<Layer>(std::make_unique<Linear>(LinearOptions{3, 4}, rng)));
  test::expect_error([&] { clone(model); }, "`Linear(3 → 4)` cannot be copied");
  Sequential known;
  known.append(std::make_unique<Linear>(LinearOptions{3, 4}, rng));
  EXPECT_EQ(clone(known).parameters().size(), 2u);
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

// The stack holds so many calls and no more, so that what is nested deeper is an Error.
TEST(Module, NestedTooDeeplyIsAnError) {
  const auto nested = [](int depth) {
    Generator rng(1);
    auto net = std::make_unique<Sequential>(Linear({.in = 2, .out = 2}, rng));
    for (int i = 0; i < depth; ++i) {
      auto outer = std::make_unique<Sequential>();
      outer->append(std::move(net));
      net = std::move(outer);
    }
    return net;
  };
  const auto some = nested(998);
  EXPECT_EQ((*some)(ones({3, 2})).shape(), (Shape{3, 2}));
  EXPECT_EQ(some->parameters().size(), 2u);
  const auto all = nested(2000);
  test::expect_error([&] { (*all)(ones({3, 2})); }, "nested deeper than 1000");
  test::expect_error([&] { all->parameters(); }, "nested deeper than 1000");
  test::expect_error([&] { all->state_dict(); }, "nested deeper than 1000");
  test::expect_error([&] { all->summary(); }, "nested deeper than 1000");
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
}  // namespace ladon::module_test
