// Replacement of layers in models by other layers, also by user-defined ones; low-rank adapters.

#include "ladon/layers/extra/state/replace.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/adam.h"
#include "ladon/tests/core/kernels/layouts.h"
#include "ladon/tests/support.h"

namespace ladon::test::replace_test {
namespace {

using layout::same_bits;

/// A linear map of the user's own: y = x·Wᵀ, with the limit of one.
struct OwnMap : Layer {
  Tensor matrix;
  OwnMap(std::int64_t in, std::int64_t out, Generator& rng)
      : matrix(parameter(normal({out, in}, rng, 0, 1 / std::sqrt(double(in))))) {}
  Tensor forward(const Tensor& x) const override { return linear(x, matrix); }
  bool per_position() const override { return true; }
  infinite::KernelNode limit(const infinite::KernelNode& k) const override {
    const infinite::Step step{.makes = infinite::Law::random_linear(),
                              .needs = infinite::Needs::wanted};
    return infinite::map_pairs(k, step, [this](const infinite::Pairs& pairs) {
      infinite::PairKernels y{pairs.nngp, {}};
      if (pairs.ntk.defined()) y.ntk = pairs.ntk + double(matrix.size(1)) * pairs.nngp;
      return y;
    });
  }
  void visit(Visitor& v) override { v("matrix", matrix); }
  std::string describe() const override { return "OwnMap"; }
};

/// In the place of attention: a map of the mean of all positions so far (causal by itself).
struct RunningMean : Layer {
  Tensor matrix;
  RunningMean(std::int64_t dim, Generator& rng) : matrix(parameter(normal({dim, dim}, rng))) {}
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override {
    const Tensor seen = mask.defined() ? masked_fill(x, logical_not(unsqueeze(mask, 2)), 0) : x;
    const Tensor count = reshape(arange(x.size(1)) + 1.0, {x.size(1), 1});
    return linear(cumsum(seen, 1) / cast(count, x.dtype()), matrix);
  }
  void visit(Visitor& v) override { v("matrix", matrix); }
  std::string describe() const override { return "RunningMean"; }
};

/// In the place of a norm.
struct Halved : Layer {
  Tensor factor = parameter(full({1}, 0.5));
  Tensor forward(const Tensor& x) const override { return x * factor; }
  bool per_position() const override { return true; }
  void visit(Visitor& v) override { v("factor", factor); }
  std::string describe() const override { return "Halved"; }
};

const TransformerEncoderLayerOptions block{.dim = 8, .heads = 2, .dropout = 0};

TransformerEncoder encoder() {
  Generator rng(1);
  return TransformerEncoder({.layer = block, .layers = 2}, rng);
}
LanguageModel language_model() {
  Generator rng(1);
  LanguageModelOptions options = llama(11, 2, 8, 2, 1, 12);
  return LanguageModel(options, rng);
}
/// A decoder that is called with one tensor: its memory is that tensor, too.
struct SeesItself : Layer {
  TransformerDecoder decoder;
  explicit SeesItself(Generator& rng) : decoder({.layer = block, .layers = 2}, rng) {}
  Tensor forward(const Tensor& x) const override { return decoder(x, x); }
  void visit(Visitor& v) override { v("decoder", decoder); }
  std::string describe() const override { return "SeesItself"; }
};

/// Trains, saves and loads it: the loss falls, what replaced a part learned, and a second model
/// with the same parts gets all of it from the file.
template <class Model>
void expect_whole(Model& model, Model& other, const Tensor& x, const std::string& learned) {
  const auto loss = [&] { return mean(square(model(x) - 1.0)); };
  const Tensor before = model.choose(learned).to_row();
  const double first = loss().item();
  Adam adam(model.parameters(), {.lr = 1e-2});
  for (int i = 0; i < 5; ++i) {
    adam.zero_grad();
    backward(loss());
    adam.step();
  }
  EXPECT_LT(loss().item(), first);
  EXPECT_FALSE(all_equal(model.choose(learned).to_row(), before));
  const TemporaryFolder folder;
  model.save(folder / "model.safetensors");
  EXPECT_FALSE(all_equal(model(x), other(x)));
  other.load(folder / "model.safetensors");
  EXPECT_TRUE(same_bits(model(x), other(x)));
  EXPECT_TRUE(same_bits(clone(model)(x), other(x)));
}

template <class Make, class Change>
void replaced(const Make& make, const Change& change, const Tensor& x, const std::string& learned) {
  auto model = make(), other = make();
  Generator a(5), b(6);
  change(model, a);
  change(other, b);
  expect_whole(model, other, x, learned);
}

TEST(Replace, InAnEncoder) {
  Generator rng(2);
  const Tensor x = normal({2, 3, 8}, rng);
  replaced(
      encoder, [](auto& m, Generator& r) { replace(m, "layers.0.expand", OwnMap(8, 32, r)); }, x,
      "layers.0.expand.matrix");
  replaced(
      encoder, [](auto& m, Generator& r) { replace(m, "layers.1.attention", RunningMean(8, r)); },
      x, "layers.1.attention.matrix");
  replaced(
      encoder, [](auto& m, Generator&) { replace(m, "layers.1.attention_norm", Halved()); }, x,
      "layers.1.attention_norm.factor");
  replaced(
      encoder, [](auto& m, Generator&) { replace(m, "final_norm", Halved()); }, x,
      "final_norm.factor");
  replaced(
      encoder, [](auto& m, Generator& r) { replace(m, "layers.0.feedforward", OwnMap(8, 8, r)); },
      x, "layers.0.feedforward.matrix");
}

TEST(Replace, InADecoder) {
  Generator rng(2);
  const Tensor x = normal({2, 3, 8}, rng);
  const auto make = [] {
    Generator seeded(1);
    return SeesItself(seeded);
  };
  replaced(
      make,
      [](auto& m, Generator& r) { replace(m, "decoder.layers.0.contract", OwnMap(32, 8, r)); }, x,
      "decoder.layers.0.contract.matrix");
  replaced(
      make,
      [](auto& m, Generator& r) { replace(m, "decoder.layers.0.attention", RunningMean(8, r)); }, x,
      "decoder.layers.0.attention.matrix");
  replaced(
      make,
      [](auto& m, Generator&) { replace(m, "decoder.layers.1.cross_attention_norm", Halved()); }, x,
      "decoder.layers.1.cross_attention_norm.factor");
}

TEST(Replace, InALanguageModel) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3}, i64);
  replaced(
      language_model,
      [](auto& m, Generator& r) { replace(m, "body.layers.0.gate", OwnMap(8, 12, r)); }, x,
      "body.layers.0.gate.matrix");
  replaced(
      language_model,
      [](auto& m, Generator& r) { replace(m, "body.layers.1.attention", RunningMean(8, r)); }, x,
      "body.layers.1.attention.matrix");
  replaced(
      language_model, [](auto& m, Generator&) { replace(m, "body.final_norm", Halved()); }, x,
      "body.final_norm.factor");
  replaced(
      language_model, [](auto& m, Generator& r) { replace(m, "head", OwnMap(8, 11, r)); }, x,
      "head.matrix");
}

TEST(Replace, ByALayerOfTheSameKindChangesNothingElse) {
  TransformerEncoder model = encoder(), other = encoder();
  Generator rng(3);
  const Tensor x = normal({2, 3, 8}, rng);
  const Owned<Layer> before =
      replace(model, "layers.0.attention", MultiHeadAttention(*other.layers[0].attention));
  EXPECT_EQ(before->describe(), other.layers[0].attention->describe());
  EXPECT_TRUE(same_bits(model(x), other(x)));
  EXPECT_EQ(model.summary(), other.summary());
  KeyValueCache cache;
  model.layers[0].attention->causal = true;
  EXPECT_EQ(model.layers[0](x, cache).shape(), x.shape());
}

TEST(Replace, KnowsWhatHasNoPlace) {
  TransformerEncoder model = encoder();
  Generator rng(3);
  expect_error([&] { replace(model, "layers.0.atention", Halved()); },
               "has no part `layers.0.atention` that can be replaced; it has `layers.0.attention`, "
               "`layers.0.attention_norm`");
  expect_error([&] { replace(model, "layers.0", Halved()); }, "that can be replaced");
  expect_error([&] { replace(model, "final_norm", Owned<Layer>()); }, "no layer");
  expect_error([&] { replace_each(model, "*.expnd", [](Owned<Layer> l) { return l; }); },
               "`*.expnd`");
  Linear single({.in = 1, .out = 1}, rng);
  expect_error([&] { replace(single, "weight", Halved()); }, "it has none");
}

TEST(Replace, ThatFailsLeavesTheModelAsItWas) {
  TransformerEncoder model = encoder();
  const std::string before = model.summary();
  int calls = 0;
  const auto fails = [&](Owned<Layer> part) -> Owned<Layer> {
    if (++calls == 2) detail::fail("test", "on purpose");
    return part;
  };
  expect_error([&] { replace_each(model, "*.expand", fails); }, "on purpose");
  EXPECT_EQ(model.summary(), before);
  expect_error(
      [&] { replace_each(model, "*.expand", [](Owned<Layer>) { return Owned<Layer>(); }); },
      "no layer");
  EXPECT_EQ(model.summary(), before);
}

TEST(Replace, KeepsTheMode) {
  TransformerEncoder model = encoder();
  model.eval();
  replace(model, "final_norm", Halved());
  replace(model, "layers.0.feedforward", Halved());
  EXPECT_FALSE(model.final_norm->training());
  EXPECT_FALSE(model.layers[0].feedforward.whole->training());
}

// Inner parts before those that they are in, each once; what fails at the last leaves all as it
// was.
TEST(Replace, OfPartsInParts) {
  Generator rng(3);
  Sequential model(Sequential(Linear({.in = 2, .out = 2}, rng)), Linear({.in = 2, .out = 2}, rng));
  const std::string before = model.summary();
  std::vector<std::string> seen;
  const auto wrap = [&](Owned<Layer> part) -> Owned<Layer> {
    seen.push_back(part->describe());
    if (seen.size() == 3) detail::fail("test", "on purpose");
    return Sequential(std::move(part), Identity());
  };
  expect_error([&] { replace_each(model, "*", wrap); }, "on purpose");
  EXPECT_EQ(model.summary(), before);
  seen = {"", "", "", ""};
  EXPECT_EQ(replace_each(model, "*", wrap),
            (std::vector<std::string>{"layers.0", "layers.0.layers.0", "layers.1"}));
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(model.parameters().size(), 4u);
  EXPECT_EQ(model.choose("layers.0.layers.0.layers.0.layers.0.*").size(), 2u);
}

// A block that mixes positions is told of padding.
TEST(Replace, AFeedForwardBlockHearsOfPadding) {
  TransformerEncoder model = encoder();
  Generator rng(3);
  replace(model, "layers.0.feedforward", MultiHeadAttention({.dim = 8, .heads = 2}, rng));
  const Tensor x = normal({1, 3, 8}, rng), mask = tensor({1, 1, 0}, {1, 3}, boolean);
  const Tensor other = concat({slice(x, 1, {.stop = 2}), normal({1, 1, 8}, rng)}, 1);
  const auto seen = [&](const Tensor& in) { return slice(model(in, mask), 1, {.stop = 2}); };
  EXPECT_TRUE(all_equal(seen(x), seen(other)));
}

TEST(Replace, TellsWhatStandsThere) {
  TransformerEncoder model = encoder();
  Generator rng(3);
  replace(model, "layers.0.attention", RunningMean(8, rng));
  replace(model, "layers.0.expand", OwnMap(8, 32, rng));
  expect_error([&] { (void)model.layers[0].attention->query; },
               "the part was replaced by RunningMean, which is not of the part's original type");
  const Tensor x = normal({2, 3, 8}, rng);
  expect_error([&] { model(x, causal()); },
               "RunningMean replaces attention and gets only the padding mask");
  DecodingCache cache;
  expect_error([&] { model(x, cache); }, "RunningMean replaces attention and cannot use a cache");
  DecodingCache other;
  TransformerEncoder mixing = encoder();
  for (TransformerEncoderLayer& layer : mixing.layers) layer.attention->causal = true;
  replace(mixing, "layers.1.feedforward", RunningMean(8, rng));
  expect_error([&] { mixing(x, other); }, "RunningMean in a feed-forward block mixes positions");
  expect_error([&] { (void)model.layers[0].feedforward.gate(x); },
               "the block was made without this part");
  EXPECT_NE(model.summary().find("OwnMap"), std::string::npos);
  const Tensor mask = tensor({1, 1, 1, 1, 1, 0}, {2, 3}, boolean);
  EXPECT_EQ(model(x, mask).shape(), x.shape());
}

TEST(Replace, TiedParametersStayTied) {
  Generator rng(1);
  Linear map({.in = 4, .out = 4}, rng);
  Sequential model(map, Activation(Nonlinearity::relu), map);  // copies share what they hold
  EXPECT_EQ(model.parameters().size(), 2u);
  replace_each(model, "layers.0", [&](Owned<Layer> part) -> Owned<Layer> {
    return LowRank(dynamic_cast<Linear&>(*part), {.rank = 2}, rng);
  });
  EXPECT_EQ(model.parameters().size(), 4u);
  EXPECT_EQ(dynamic_cast<LowRank&>(*model.layers[0]).base.weight.history(),
            dynamic_cast<Linear&>(*model.layers[2]).weight.history());
}

TEST(Replace, GivesItsLimitOrARefusal) {
  Generator rng(1);
  TransformerEncoderLayerOptions o{.dim = 8, .heads = 2, .dropout = 0};
  TransformerEncoder model({.layer = o, .layers = 1}, rng);
  replace(model, "layers.0.expand", OwnMap(8, 32, rng));
  const infinite::Inputs x(normal({2, 3, 8}, rng, 0, 1, f64));
  EXPECT_EQ(infinite::limit(model)(x).nngp.size(0), 2);
  replace(model, "layers.0.attention", RunningMean(8, rng));
  expect_error([&] { infinite::limit(model)(x); }, "RunningMean has no limit in closed form");
}

TEST(Replace, GivesItsNamesOrARefusal) {
  LanguageModel model = language_model(), other = language_model();
  Generator rng(3);
  replace(model, "body.layers.0.gate", Linear({.in = 8, .out = 12, .bias = false}, rng));
  from_names(other, to_names(model));
  const Tensor x = tensor({1, 2, 3}, {1, 3}, i64);
  EXPECT_TRUE(same_bits(other(x), model(x)));
  replace(model, "body.layers.1.attention", RunningMean(8, rng));
  expect_error([&] { to_names(model); }, "`body.layers.1.attention.matrix` has no name in Llama");
}

// --- low-rank adapters ---

TEST(LowRank, BeginsAsItsBaseAndLearnsAlone) {
  TransformerEncoder model = encoder();
  Generator rng(4);
  const Tensor x = normal({2, 3, 8}, rng), before = model(x);
  model.freeze();
  const Tensor base = ParameterSet(model).to_row();
  const ParameterSet adapters = add_low_rank(model, "*.expand", {.rank = 2}, rng);
  EXPECT_EQ(adapters.size(), 4u);
  EXPECT_EQ(adapters.count(), 2 * (2 * 8 + 32 * 2));
  EXPECT_TRUE(all_close(model(x), before, 1e-6, 1e-6));
  Adam adam(adapters, {.lr = 1e-2});
  for (int i = 0; i < 5; ++i) {
    adam.zero_grad();
    backward(mean(square(model(x) - 1.0)));
    adam.step();
  }
  EXPECT_GT(model.choose("*.lora_B").norm(), 0);
  EXPECT_TRUE(same_bits(ParameterSet(model).except("*.lora_?").to_row(), base));
  EXPECT_FALSE(all_close(model(x), before, 1e-3, 1e-3));
}

TEST(LowRank, IsMergedAndTakenApartBitForBit) {
  for (const Parameterization form : {Parameterization::standard, Parameterization::ntk}) {
    Generator rng(4);
    const double weight_std = form == Parameterization::ntk ? 1.5 : 1;
    Sequential model(
        Linear({.in = 4, .out = 6, .parameterization = form, .weight_std = weight_std}, rng),
        Activation(Nonlinearity::tanh), Linear({.in = 6, .out = 3}, rng));
    model.to(f64);
    model.choose("layers.0.*").freeze();
    const ParameterSet adapters =
        add_low_rank(model, "layers.0", {.rank = 2, .stabilized = true}, rng);
    adapters.perturb(0.3, rng);
    const Tensor x = normal({5, 4}, rng, 0, 1, f64), apart = model(x);
    const auto kept = merge_low_rank(model);
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_NE(dynamic_cast<Linear*>(model.layers[0].get()), nullptr);
    EXPECT_TRUE(all_close(model(x), apart, 1e-12, 1e-12));
    EXPECT_FALSE(dynamic_cast<Linear&>(*model.layers[0]).weight.requires_grad());
    unmerge_low_rank(model, kept);
    EXPECT_TRUE(same_bits(model(x), apart));
    EXPECT_EQ(model.choose("*.lora_A")[0].second.history(), adapters[0].second.history());
  }
}

TEST(LowRank, IsSavedApart) {
  TransformerEncoder model = encoder(), other = encoder();
  Generator rng(4), another(5);
  const ParameterSet adapters = add_low_rank(model, "*.contract", {.rank = 2}, rng);
  adapters.perturb(0.3, rng);
  const TemporaryFolder folder;
  adapters.save(folder / "adapters");
  add_low_rank(other, "*.contract", {.rank = 2}, another).load(folder / "adapters");
  const Tensor x = normal({2, 3, 8}, rng);
  EXPECT_TRUE(same_bits(model(x), other(x)));
}

TEST(LowRankUpdate, IsOfHeadsAndIsMerged) {
  TransformerEncoder model = encoder();
  model.to(f64);
  model.freeze();
  Generator rng(4);
  const LowRankUpdate update(model.choose("*.query") | model.choose("*.value"),
                             {.rank = 2, .alpha = 3}, rng);
  EXPECT_EQ(update.adapters.size(), 8u);
  EXPECT_EQ(update.adapters[1].first, "layers.0.attention.query.lora_B");
  const Tensor x = normal({2, 3, 8}, rng, 0, 1, f64), before = model(x);
  const auto run = [&] {
    return functional_call(model, update.set, update.values(), [&] { return model.forward(x); });
  };
  EXPECT_TRUE(same_bits(run().detach(), before));
  backward(sum(square(run())));
  for (const auto& [name, w] : update.adapters) EXPECT_TRUE(w.grad().defined()) << name;
  update.adapters.perturb(0.3, rng);
  const Tensor apart = run();
  EXPECT_FALSE(all_close(apart, before, 1e-3, 1e-3));
  update.merge();
  EXPECT_TRUE(all_close(model(x), apart, 1e-12, 1e-12));
  EXPECT_TRUE(same_bits(run().detach(), model(x)));
  expect_error([&] { LowRankUpdate(model.choose("*.bias"), {}, rng); }, "it must have two axes");
  expect_error([&] { LowRankUpdate({}, {}, rng); }, "there is no parameter");
}

TEST(LowRank, ComesBackInTheDtypeOfItsModelAndInPlaceOfItsOwnAlone) {
  Generator rng(4);
  Sequential model(Linear({.in = 4, .out = 4}, rng), Activation(Nonlinearity::relu));
  const ParameterSet adapters = add_low_rank(model, "layers.0", {.rank = 2}, rng);
  adapters.perturb(0.3, rng);
  const Tensor x = normal({2, 4}, rng), y = model(x).detach();
  const TemporaryFolder folder;
  adapters.save(folder / "adapters");
  const auto apart = merge_low_rank(model);
  expect_error([&] { adapters.load(folder / "adapters"); },
               "was replaced by merge_low_rank(), until unmerge_low_rank(), after");
  replace(model, "layers.0", Activation(Nonlinearity::tanh));
  expect_error([&] { unmerge_low_rank(model, apart); }, "not the Linear of merge_low_rank()");
  EXPECT_NE(dynamic_cast<Activation*>(model.layers[0].get()), nullptr);
  replace(model, "layers.0", apart.at("layers.0").merged());
  model.to(f64);
  unmerge_low_rank(model, apart);
  EXPECT_TRUE(all_close(model(cast(x, f64)), y, 1e-5, 1e-5));
  EXPECT_EQ(model.parameters()[1].dtype(), f64);
  model.to(f32);
  EXPECT_TRUE(same_bits(model(x), y));
}

TEST(LowRank, RefusesWhatItCannotAdapt) {
  TransformerEncoder model = encoder();
  Generator rng(4);
  const std::string before = model.summary();
  expect_error([&] { add_low_rank(model, "*.expand", {.rank = 9}, rng); },
               "the rank is 9; it must be at least 1 and at most min(in, out) = 8");
  expect_error([&] { add_low_rank(model, "layers.0.*", {.rank = 2}, rng); },
               "adapts only Linear; `layers.0.*` also matches LayerNorm");
  expect_error([&] { add_low_rank(model, "*.attention.query", {.rank = 2}, rng); },
               "as the queries of attention, are adapted by LowRankUpdate(model.choose(");
  expect_error([&] { add_low_rank(model, "layers.0.attention.nothing", {.rank = 2}, rng); },
               "`, nor a parameter of that name");
  EXPECT_EQ(model.summary(), before);
  Sequential within(Linear({.in = 4, .out = 4}, rng));
  add_low_rank(within, "layers.0", {.rank = 2}, rng);
  expect_error([&] { add_low_rank(within, "layers.0.base", {.rank = 2}, rng); },
               "LowRankUpdate(model.choose(\"layers.0.base.weight\"), …)");
  Sequential mixed(Linear({.in = 4, .out = 4}, rng), Activation(Nonlinearity::relu));
  expect_error([&] { add_low_rank(mixed, "layers.*", {.rank = 2}, rng); },
               "also matches Activation");
  EXPECT_NE(dynamic_cast<Linear*>(mixed.layers[0].get()), nullptr);
  Sequential one(LowRank(Linear({.in = 4, .out = 4}, rng), {.rank = 2}, rng));
  one.choose("*.lora_B").perturb(1, rng);
  expect_error(
      [&] {
        infinite::limit(one)(infinite::Inputs(normal({2, 4}, rng, 0, 1, f64)));
      },
      "its B is not 0");
}

}  // namespace
}  // namespace ladon::test::replace_test
