// Sets of parameters as one value: selected, frozen, shared, converted to rows, stacked, saved, and
// loaded in part.

#include "ladon/layers/parameter_set.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "ladon/autograd/extra/diagnosis/profile.h"
#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/graph.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/core/kernels/layouts.h"
#include "ladon/tests/support.h"

namespace ladon::test::parameter_set_test {
namespace {

TransformerEncoder encoder(std::uint64_t seed) {
  Generator rng(seed);
  TransformerEncoder model({.layer = {.dim = 8, .heads = 2, .dropout = 0}, .layers = 2}, rng);
  model.to(f64);
  return model;
}

std::vector<std::string> names(const ParameterSet& set) {
  std::vector<std::string> names;
  for (const auto& [name, x] : set) names.push_back(name);
  return names;
}
using Names = std::vector<std::string>;

TEST(ParameterSet, IsChosenByNameFunctionAndKind) {
  const TransformerEncoder model = encoder(1);
  EXPECT_EQ(names(model.choose("*.attention.query")),
            (Names{"layers.0.attention.query", "layers.1.attention.query"}));
  EXPECT_EQ(names(model.choose("layers.[1].con*")),
            (Names{"layers.1.contract.weight", "layers.1.contract.bias"}));
  const ParameterSet norms = model.choose<LayerNorm>();
  EXPECT_EQ(norms.size(), 2u * (2 * 2 + 1));
  EXPECT_EQ(norms.back().first, "final_norm.bias");
  EXPECT_EQ(model.choose<TransformerEncoder>().size(), model.parameters().size());
  const auto large = [](const std::string&, const Tensor& x) { return x.count() > 100; };
  EXPECT_EQ(model.choose(large).count(), model.choose("*[dt].weight").except("*norm*").count() +
                                             model.choose("*.attention.*").choose(large).count());
  EXPECT_TRUE(model.choose([](auto&, auto&) { return false; }).empty());
  EXPECT_EQ(
      names(model.choose({"*.key", "layers.0.*.query"})),
      (Names{"layers.0.attention.query", "layers.0.attention.key", "layers.1.attention.key"}));
}

TEST(ParameterSet, AMisspeltNameIsAnError) {
  const TransformerEncoder model = encoder(1);
  expect_error([&] { model.choose("*.atention.query"); },
               "none of the 34 parameters matches `*.atention.query`; the first is "
               "`layers.0.attention.query`");
  expect_error([&] { model.choose({"*.query", "*.qery"}); }, "matches `*.qery`");
  expect_error([&] { model.choose(ParameterChoice()); }, "empty function");
  expect_error([&] { model.choose(std::function<bool(const Module&)>()); }, "it is empty");
}

TEST(ParameterSet, IsCombinedWithoutRepeats) {
  const TransformerEncoder model = encoder(1);
  const ParameterSet all = model, queries = model.choose("*.query");
  EXPECT_EQ(all.except(queries).size(), all.size() - 2);
  EXPECT_EQ(all.except("*.query").size(), all.size() - 2);
  EXPECT_EQ((queries | all).size(), all.size());
  EXPECT_EQ(names(queries | model.choose("*.key")),
            (Names{"layers.0.attention.query", "layers.1.attention.query", "layers.0.attention.key",
                   "layers.1.attention.key"}));
}

// --- freezing ---

TEST(ParameterSet, IsFrozenByALoopOverItsHandles) {
  TransformerEncoder model = encoder(1);
  for (auto& [name, x] : model.named_parameters()) x.set_requires_grad(false);
  for (const Tensor& x : model.parameters()) EXPECT_FALSE(x.requires_grad());
  model.thaw();
  for (const Tensor& x : model.parameters()) EXPECT_TRUE(x.requires_grad());
}

// Nothing is recorded below the lowest trained parameter: its backward is not run.
TEST(ParameterSet, FreezingCostsNoBackward) {
  TransformerEncoder model = encoder(1);
  Generator rng(2);
  const Tensor x = normal({2, 3, 8}, rng, 0, 1, f64);
  const auto gradients = [&] {
    std::int64_t calls = 0;
    Profile profile;
    backward(sum(model(x)));
    for (const auto& row : profile.rows()) calls += row.gradients;
    return calls;
  };
  const std::int64_t all = gradients();
  model.choose("layers.0.*").freeze();
  const std::int64_t half = gradients();
  EXPECT_LT(half, 0.6 * static_cast<double>(all));
  model.freeze();
  model.choose("final_norm.*").thaw();
  EXPECT_LT(gradients(), 4);
}

TEST(ParameterSet, FrozenParametersAreSavedCopiedAndConverted) {
  TransformerEncoder model = encoder(1);
  model.choose("layers.0.*").freeze();
  const TransformerEncoder copy = clone(model);
  EXPECT_FALSE(copy.layers[0].attention->query.requires_grad());
  EXPECT_TRUE(copy.layers[1].attention->query.requires_grad());
  EXPECT_EQ(model.state_dict().size(), model.parameters().size());
  model.to(f32);
  EXPECT_FALSE(model.layers[0].attention->query.requires_grad());
}

// --- rows ---

TEST(ParameterSet, IsARowAndBack) {
  TransformerEncoder model = encoder(1);
  const ParameterSet set = model.choose("*.query");
  const Tensor row = set.to_row();
  EXPECT_EQ(row.shape(), Shape{2 * 8 * 8});
  EXPECT_DOUBLE_EQ(set.norm(), std::sqrt(sum(square(row)).item()));
  set.assign_row(2.0 * row);
  EXPECT_TRUE(all_equal(set.to_row(), 2.0 * row));
  const std::vector<Tensor> pieces = set.pieces(stack({row, row}, 0));
  EXPECT_EQ(pieces[1].shape(), (Shape{2, 2, 4, 8}));
  EXPECT_TRUE(all_equal(2.0 * select(pieces[1], 0, 1), set[1].second.detach()));
  expect_error([&] { set.assign_row(ones({3})); },
               "have 128 values, so the row must have as many; got [3]");
  expect_error(
      [&] {
        set.pieces(ones({128, 3}));
      },
      "have 128 values, so rows must have as many columns; got [128, 3]");
  expect_error([&] { ParameterSet().to_row(); }, "0 parameters");
  expect_error([&] { set.to_row({row}); }, "2 parameters and 1 values");
}

TEST(ParameterSet, IsPerturbedByNormalNumbers) {
  const TransformerEncoder model = encoder(1);
  const ParameterSet set = model;
  const Tensor before = set.to_row();
  Generator rng(3), again(3);
  set.perturb(0.5, rng);
  const Tensor steps = (set.to_row() - before) / 0.5;
  const double n = static_cast<double>(steps.count());
  EXPECT_LT(std::abs(mean(steps).item()) * std::sqrt(n), 4);
  EXPECT_LT(std::abs(mean(square(steps)).item() - 1) * std::sqrt(n / 2), 4);
  set.assign_row(before);
  set.perturb(0.5, again);
  EXPECT_TRUE(all_close(set.to_row() - before, 0.5 * steps, 1e-12, 1e-12));
  expect_error([&] { set.perturb(-1, rng); }, "is -1; it must be finite and at least 0");
}

// --- functions of parameters ---

TEST(ParameterSet, OfAnEnsembleRunsInOnePass) {
  TransformerEncoder model = encoder(1);
  const TransformerEncoder other = encoder(2);
  Generator rng(4);
  const Tensor x = normal({2, 3, 8}, rng, 0, 1, f64);
  const std::vector<Tensor> weights = stack_parameters({model, other});
  const Tensor y = vmap(
      [&](const std::vector<Tensor>& w) {
        return functional_call(model, w, [&] { return model.forward(x); });
      },
      weights);
  EXPECT_TRUE(all_close(select(y, 0, 0), model(x), 1e-10, 1e-12));
  EXPECT_TRUE(all_close(select(y, 0, 1), other(x), 1e-10, 1e-12));
  expect_error(
      [&] {
        stack_parameters({model.choose("*.key"), other.choose("*.query")});
      },
      "member 1 has `layers.0.attention.query`");
  expect_error([&] { stack_parameters({}); }, "no member");
}

TEST(ParameterSet, IsThatOfAFunctionalCall) {
  TransformerEncoder model = encoder(1);
  TransformerEncoder other = encoder(2);
  Generator rng(4);
  const Tensor x = normal({2, 3, 8}, rng, 0, 1, f64);
  const ParameterSet set = model.choose("layers.1.contract.*");
  const Tensor mixed = functional_call(model, set, other.choose("layers.1.contract.*").tensors(),
                                       [&] { return model.forward(x); });
  model.choose("layers.1.contract.*").assign_row(other.choose("layers.1.contract.*").to_row());
  EXPECT_TRUE(all_equal(mixed, model(x)));
  const auto nothing = [] { return Tensor(); };
  expect_error([&] { functional_call(other, set, set.tensors(), nothing); },
               "`layers.1.contract.weight` is not (or no longer) a parameter of the module");
  expect_error([&] { functional_call(model, set, {}, nothing); }, "got 0 values for 2 parameters");
}

/// A layer with one weight under two names, as files of tied language models have it.
struct Tied : Layer {
  Tensor weight = parameter(full({1, 1}, 3));
  Tensor forward(const Tensor& x) const override { return matmul(x, weight); }
  void visit(Visitor& v) override {
    v("in.weight", weight);
    v("out.weight", weight);
  }
  std::string describe() const override { return "Tied"; }
};

TEST(ParameterSet, OfAFunctionalCallGivesBackAMemberWithTwoNames) {
  Tied model;
  const auto value = [&](const std::function<Tensor()>& f) {
    return functional_call(model, {full({1, 1}, 7)}, f).item();
  };
  EXPECT_EQ(value([&] { return model.forward(ones({1, 1})); }), 7);
  EXPECT_EQ(model.weight.item(), 3);
  expect_error([&] { value([]() -> Tensor { detail::fail("test", "thrown inside"); }); }, "thrown");
  EXPECT_EQ(model.weight.item(), 3);
}

TEST(ParameterSet, IsSharedWithAnotherModel) {
  TransformerEncoder model = encoder(1), other = encoder(2);
  const ParameterSet stale = other.choose("layers.0.*");
  const ParameterSet shared = model.choose("layers.0.*");
  shared.share_with(other);
  for (const auto& [name, x] : shared)
    EXPECT_EQ(other.choose(name)[0].second.history(), x.history()) << name;
  Generator rng(4);
  backward(sum(square(other(normal({2, 3, 8}, rng, 0, 1, f64)))));
  EXPECT_TRUE(model.layers[0].attention->query.grad().defined());
  expect_error([&] { stale.to_row(); }, "was replaced by share_with");
}

// One tensor has several places there, and one name here.
TEST(ParameterSet, IsSharedWithAllPlacesOfATiedOne) {
  Generator rng(2);
  const Linear map({.in = 2, .out = 2}, rng);
  const Sequential model(map, map);
  Sequential other = clone(model);
  ParameterSet(model).share_with(other);
  EXPECT_EQ(other.parameters().size(), 2u);
  EXPECT_EQ(other.parameters()[0].history(), map.weight.history());
}

TEST(ParameterSet, WhatIsNoLeafIsNotThawed) {
  const ParameterSet plain({zeros({2}), ones({2})});
  expect_error([&] { plain.thaw(); }, "`0` is not a trained tensor; make it with parameter(x)");
}

TEST(ParameterSet, FreezingClearsGradients) {
  TransformerEncoder model = encoder(1);
  Generator rng(2);
  backward(sum(square(model(normal({2, 3, 8}, rng, 0, 1, f64)))));
  model.choose("*.query").freeze();
  for (const auto& [name, x] : model.choose("*.query")) EXPECT_FALSE(x.grad().defined()) << name;
  for (const auto& [name, x] : model.choose("*.value")) EXPECT_TRUE(x.grad().defined()) << name;
}

TEST(ParameterSet, SharingThatFailsChangesNothing) {
  TransformerEncoder model = encoder(1);
  Generator rng(2);
  Linear other({.in = 8, .out = 8}, rng);
  const auto before = other.weight.history();
  expect_error([&] { model.choose("layers.0.*").share_with(other); }, "has no parameter");
  ParameterSet wrong{{"weight", parameter(zeros({8, 7}))}};
  expect_error([&] { wrong.share_with(other); },
               "`weight` is f32 [8, 8] in the other model and f32 [8, 7]");
  EXPECT_EQ(other.weight.history(), before);
}

TEST(ParameterSet, TakenBeforeAConversionIsAnError) {
  TransformerEncoder model = encoder(1);
  const ParameterSet set = model.choose("*.query");
  model.to(f32);
  for (const auto& act : std::vector<std::function<void()>>{
           [&] { set.freeze(); }, [&] { set.to_row(); }, [&] { set.assign_row(zeros({128})); },
           [&] { set.norm(); }, [&] { set.state_dict(); }, [&] { stack_parameters({set}); },
           [&] { set.load_state_dict(set.state_dict()); }, [&] { set.share_with(model); }})
    expect_error(act, "was replaced by Module::to(f32)");
}

// --- files ---

TEST(ParameterSet, IsSavedAndLoadedApart) {
  TransformerEncoder model = encoder(1);
  const TransformerEncoder other = encoder(2);
  const TemporaryFolder folder;
  const std::string path = folder / "queries.safetensors";
  other.choose("*.query").save(path);
  const Tensor rest = ParameterSet(model).except("*.query").to_row();
  const LoadReport report = model.choose("*.query").load(path);
  EXPECT_EQ(report.loaded.size(), 2u);
  EXPECT_TRUE(report.complete());
  EXPECT_TRUE(all_equal(model.choose("*.query").to_row(), other.choose("*.query").to_row()));
  EXPECT_TRUE(layout::same_bits(ParameterSet(model).except("*.query").to_row(), rest));
  expect_error([&] { model.choose("*.key").load(path); }, path + ": [load_state_dict] `layers.0.");
}

TEST(LoadReport, TellsWhatDidNotFit) {
  TransformerEncoder model = encoder(1);
  StateDict state = encoder(2).state_dict();
  state.erase("final_norm.bias");
  state["head.weight"] = ones({3});
  state["final_norm.weight"] = ones({9});
  const Tensor kept = clone(model.state_dict().at("final_norm.weight"));
  const LoadReport report = model.load_state_dict(state, {.strict = false});
  EXPECT_EQ(report.missing, (Names{"final_norm.bias"}));
  EXPECT_EQ(report.surplus, (Names{"head.weight"}));
  ASSERT_EQ(report.misfits.size(), 1u);
  EXPECT_EQ(report.misfits[0].given, Shape{9});
  EXPECT_EQ(report.loaded.size(), 32u);
  EXPECT_FALSE(report.complete());
  EXPECT_TRUE(all_equal(model.state_dict().at("final_norm.weight"), kept));
  std::ostringstream text;
  text << report;
  EXPECT_EQ(text.str(),
            "32 loaded\n"
            "missing    final_norm.bias\n"
            "surplus    head.weight\n"
            "misfit     final_norm.weight: f32 [9] for f64 [8]\n");
}

TEST(LoadReport, APrefixIsTakenOffAndHintedAt) {
  TransformerEncoder model = encoder(1);
  const TransformerEncoder other = encoder(2);
  StateDict whole;
  for (const auto& [name, x] : other.state_dict()) whole["encoder." + name] = x;
  whole["head.weight"] = ones({3});
  expect_error([&] { model.load_state_dict(whole); },
               "the state has it under `encoder.`: load with .prefix = \"encoder.\"");
  EXPECT_TRUE(model.load_state_dict(whole, {.prefix = "encoder."}).complete());
  EXPECT_TRUE(all_equal(ParameterSet(model).to_row(), ParameterSet(other).to_row()));
  expect_error([&] { model.load_state_dict(whole, {.prefix = "decoder."}); },
               "none of the state's 35 names begins with `decoder.`");
  expect_error([&] { model.load_state_dict(whole, {.strict = false}); },
               "no tensor of the state fits the module: its first name is `encoder.");
  Generator rng(9);
  Linear narrow({.in = 2, .out = 1, .bias = false}, rng);
  expect_error(
      [&] {
        narrow.load_state_dict({{"weight", ones({1, 3})}}, {.strict = false});
      },
      "no tensor of the state fits the module: `weight` is f32 [1, 3] in the state and f32 [1, 2] "
      "in");
  StateDict deeper;
  for (const auto& [name, x] : whole) deeper["model." + name] = x;
  expect_error([&] { model.load_state_dict(deeper, {.prefix = "model."}); },
               "load with .prefix = \"model.encoder.\"");
}

}  // namespace
}  // namespace ladon::test::parameter_set_test
