// Identity of tensors: sets of parameters that contain a tensor twice, tied tensors in files, a
// model's own tensors as a state, and parameters that were replaced in their model.

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/training/average.h"
#include "ladon/optim/extra/training/training_run.h"
#include "ladon/optim/optim.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::identity_test {
namespace {

// --- a tensor twice in a set ---

/// Sets that hold one tensor under two names, beside another one: leaves, constants, views, dual
/// numbers, and what stands in a model inside functional_call.
std::map<std::string, ParameterSet> sets_with_twins() {
  const Tensor x = leaf(tensor({3, 4}, f64)), y = leaf(tensor({12}, f64));
  const Tensor c = tensor({3, 4}, f64), d = tensor({12}, f64), both = tensor({3, 4, 12}, f64);
  const Tensor part = slice(both, 0, {.stop = 2}), rest = slice(both, 0, {.start = 2});
  return {{"leaves", {{"a", x}, {"b", y}, {"c", x}}},
          {"frozen leaves", {{"a", Tensor(x)}, {"b", y}, {"c", x}}},
          {"constants", {{"a", c}, {"b", d}, {"c", c}}},
          {"views", {{"a", part}, {"b", rest}, {"c", slice(both, 0, {.stop = 2})}}},
          {"results", {{"a", x * 1.0}, {"b", y * 1.0}, {"a", x}}}};
}

std::vector<std::string> names(const ParameterSet& set) {
  std::vector<std::string> found;
  for (const auto& [name, x] : set) found.push_back(name);
  return found;
}

using Names = std::vector<std::string>;

TEST(Identity, EveryOperationTakesATensorOnce) {
  for (const auto& entry : sets_with_twins()) {
    SCOPED_TRACE(entry.first);
    const ParameterSet& set = entry.second;
    const bool twins = entry.first != "results";  // those are three different tensors
    const Names all = twins ? Names{"a", "b"} : Names{"a", "b", "a"};
    const ParameterSet alone{set[1]};
    const bool leaves = set[0].second.history() && twins;
    const auto row_is_refused = [&](const std::function<void()>& f) {
      twins ? expect_error(f, "are one tensor, which a row of all parameters would contain twice")
            : f();
    };
    const std::map<std::string, std::function<void()>> operations = {
        {"distinct", [&] { EXPECT_EQ(names(set.distinct()), all); }},
        {"choose",
         [&] {
           EXPECT_EQ(names(set.choose("*")), all);
           EXPECT_EQ(names(set.choose({"a", "b", "?", "*"})), all);
         }},
        {"except",
         [&] {
           EXPECT_EQ(set.except(set).size(), 0u);
           EXPECT_EQ(set.except(alone).size(), twins ? 1u : 2u);
           EXPECT_EQ(set.except("none").size(), all.size());
         }},
        {"trained",
         [&] { EXPECT_EQ(set.trained().size(), set[0].second.requires_grad() ? all.size() : 0u); }},
        {"|",
         [&] {
           EXPECT_EQ(names(set | set), all);
           EXPECT_EQ((set | alone).size(), all.size());
           EXPECT_EQ((alone | set).size(), all.size());
           EXPECT_EQ((ParameterSet{set[0]} | ParameterSet{{"other", set[0].second}}).size(), 1u);
         }},
        {"count", [&] { EXPECT_EQ(set.count(), twins ? 3 : 5); }},
        {"norm",
         [&] {
           if (!twins) return;
           EXPECT_NEAR(set.norm(), 13, 1e-12);
         }},
        {"perturb",
         [&] {
           ParameterSet copy;
           std::map<std::uint64_t, Tensor> own;
           Tensor x = clone(set[0].second.detach()), y = clone(set[1].second.detach());
           copy = {{"a", x}, {"b", y}, {"c", x}};
           Generator rng(1), same(1);
           copy.perturb(1, rng);
           EXPECT_NEAR(sum(x).item(), 7 + sum(normal({2}, same, 0, 1, f64)).item(), 1e-12);
         }},
        {"to_row", [&] { row_is_refused([&] { set.to_row(); }); }},
        {"assign_row",
         [&] {
           if (twins) row_is_refused([&] { set.assign_row(zeros({3}, f64)); });
         }},
        {"pieces", [&] { row_is_refused([&] { set.pieces(zeros({twins ? 3 : 5}, f64)); }); }},
        {"tensors", [&] { EXPECT_EQ(set.tensors().size(), 3u); }},
        {"with_prefix", [&] { EXPECT_EQ(set.with_prefix("x.")[2].first, "x." + set[2].first); }},
        {"freeze",
         [&] {
           if (!leaves) return;
           set.freeze();
           EXPECT_FALSE(set[0].second.requires_grad());
         }},
        {"thaw",
         [&] {
           if (!leaves) return;
           set.thaw();
           EXPECT_TRUE(set[0].second.requires_grad());
         }},
        {"set_frozen", [] {}},  // private, of the two
        {"zero_grad",
         [&] {
           if (!leaves) return;
           Tensor(set[0].second).set_grad(zeros({2}, f64));
           set.zero_grad();
           EXPECT_FALSE(set[2].second.grad().defined());
         }},
        {"check_in_place", [&] { set.check_in_place("test"); }},
        {"check_own_values", [&] { set.check_own_values("test"); }},
        {"taken", [&] { EXPECT_EQ(set.choose("*").taken(), set.taken()); }},
        {"share_with",
         [&] {
           Generator rng(2);
           Sequential model(Linear({.in = 1, .out = 2, .bias = false}, rng));
           model.to(f64);
           const Tensor w = leaf(zeros({2, 1}, f64));
           ParameterSet{{"layers.0.weight", w}, {"layers.0.weight", w}}.share_with(model);
           EXPECT_EQ(model.parameters()[0].history(), w.history());
         }},
        {"state_dict",
         [&] {
           if (twins)
             EXPECT_EQ(set.state_dict().size(), 3u);
           else
             expect_error([&] { set.state_dict(); }, "two parameters are named `a`");
         }},
        {"load_state_dict",
         [&] {
           if (!twins) return;
           StateDict state;
           for (const auto& [name, x] : set) state[name] = clone(x.detach());
           set.load_state_dict(state);
           state["c"] = state["c"] + 1;
           expect_error([&] { set.load_state_dict(state); }, "`a` and `c` are one tensor");
         }},
        {"save",
         [&] {
           if (!twins) return;
           const TemporaryFolder folder;
           set.save(folder / "set");
           EXPECT_TRUE(all_equal(load_safetensors(folder / "set").at("c"), set[0].second));
         }},
        {"load", [&] {
           if (!twins) return;
           const TemporaryFolder folder;
           set.save(folder / "set");
           EXPECT_TRUE(set.load(folder / "set").complete());
         }}};
    for (const auto& [name, operation] : operations) {
      SCOPED_TRACE(name);
      operation();
    }
  }
}

/// What stands in a model inside a functional_call or a vmap of it: constants, mapped constants.
TEST(Identity, OfParametersInsideACall) {
  Generator rng(1);
  const Linear tied({.in = 2, .out = 2}, rng);
  Sequential model(tied, Linear({.in = 2, .out = 2}, rng), tied);
  std::vector<Tensor> values, stacks;
  for (const Tensor& x : model.parameters()) {
    values.push_back(clone(x.detach()));
    stacks.push_back(stack({x.detach(), x.detach() * 2.0}, 0));
  }
  const auto look = [&] {
    EXPECT_EQ(model.parameters().size(), 4u) << "a tied tensor comes once";
    EXPECT_EQ(names(model.choose("layers.0.weight")), Names{"layers.0.weight"});
    EXPECT_EQ(names(model.choose({"*.weight"})), (Names{"layers.0.weight", "layers.1.weight"}));
    EXPECT_EQ(model.named_parameters().except(model.choose("layers.0.weight")).size(), 3u);
    EXPECT_EQ((model.choose("*.bias") | model).size(), 4u);
    EXPECT_EQ(clone(model).parameters().size(), 4u);
    return zeros({1});
  };
  look();
  functional_call(model, values, look);
  vmap(
      [&](const std::vector<Tensor>& own) {
        return functional_call(model, own, look) + sum(own[0]);
      },
      stacks);
  jvp(
      [&](const std::vector<Tensor>& own) {
        return functional_call(model, own, look) + sum(own[0]);
      },
      values, values);
}

// Tangents and examples make different tensors of the same elements.
TEST(Identity, DiffersByTangentAndExample) {
  const Tensor x = ones({2, 2}, f64);
  const auto differ = [](const Tensor& a, const Tensor& b) {
    EXPECT_NE(detail::identity(a), detail::identity(b));
  };
  differ(slice(x, 0, {.stop = 1}), slice(x, 0, {.start = 1}));
  differ(x, transpose(x));
  differ(x, clone(x));
  differ(zeros({0}), zeros({0}));
  differ(x, parameter(Tensor(x)));
  EXPECT_EQ(detail::identity(slice(x, 0, {.stop = 1})), detail::identity(slice(x, 0, {.stop = 1})));
  jvp(
      [&](const std::vector<Tensor>& in) {
        differ(in[0], x);
        return in[0];
      },
      {x}, {x});
  vmap(
      [&](const std::vector<Tensor>& outer) {
        return vmap(
            [&](const std::vector<Tensor>& inner) {
              differ(inner[0], outer[0]);
              return inner[0] + outer[0];
            },
            {x});
      },
      {x});
}

TEST(Identity, NormOfASetLeavesNoRange) {
  const ParameterSet set{{"a", tensor({3e200}, f64)}, {"b", tensor({4e200}, f64)}};
  EXPECT_NEAR(set.norm() / 5e200, 1, 1e-12);
  EXPECT_NEAR(ParameterSet({tensor({3e-200, 4e-200}, f64)}).norm() / 5e-200, 1, 1e-12);
  EXPECT_EQ(ParameterSet({zeros({3}, f64)}).norm(), 0);
  EXPECT_TRUE(std::isinf(ParameterSet({tensor({HUGE_VAL}, f64)}).norm()));
}

// --- tied tensors in files ---

/// Three maps of one shape, of which two share all.
Sequential tied_model(std::uint64_t seed) {
  Generator rng(seed);
  const Linear map({.in = 2, .out = 2}, rng);
  return Sequential(map, Linear({.in = 2, .out = 2}, rng), map);
}

StateDict copy_of(const StateDict& state) {
  StateDict copy;
  for (const auto& [name, x] : state) copy[name] = clone(x.detach());
  return copy;
}

void expect_equal(const StateDict& a, const StateDict& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, x] : a) EXPECT_TRUE(all_equal(x, b.at(name))) << name;
}

TEST(Identity, TiedTensorsThatDisagreeAreAnError) {
  Sequential model = tied_model(1);
  const StateDict before = copy_of(model.state_dict());
  const StateDict other = copy_of(tied_model(2).state_dict());
  const TemporaryFolder folder;
  for (const std::string name : {"layers.0.weight", "layers.2.weight", "layers.0.bias"}) {
    StateDict bad = copy_of(other);
    bad[name] = bad[name] + 0.5;
    const std::string twins = name.ends_with("bias")
                                  ? "`layers.0.bias` and `layers.2.bias` are one tensor"
                                  : "`layers.0.weight` and `layers.2.weight` are one tensor";
    const std::string path = folder / "state";
    save_safetensors(path, bad);
    StateDict behind;
    for (const auto& [key, x] : bad) behind["x." + key] = x;
    StateDict halves;
    for (const auto& [key, x] : bad) halves[key] = cast(x, f64);
    StateDict part = bad;
    part.erase("layers.1.weight");
    for (const auto& load : std::vector<std::function<void()>>{
             [&] { model.load_state_dict(bad); },
             [&] { model.load_state_dict(bad, {.strict = false}); },
             [&] { model.load_state_dict(part, {.strict = false}); },
             [&] { model.load_state_dict(behind, {.prefix = "x."}); },
             [&] { model.load_state_dict(halves); }, [&] { model.load(path); },
             [&] { model.load(path, {.strict = false}); }}) {
      expect_error(load, twins);
      expect_equal(model.state_dict(), before);
    }
  }
  model.load_state_dict(other);
  expect_equal(model.state_dict(), other);
  StateDict one = other;  // one name of two, which a strict load misses
  one.erase("layers.2.weight");
  one["layers.0.weight"] = one["layers.0.weight"] + 1;
  model.load_state_dict(one, {.strict = false});
  EXPECT_TRUE(all_equal(model.state_dict().at("layers.2.weight"), one.at("layers.0.weight")));
}

// Views of other shapes: the value that is loaded last must not overwrite another one in silence.
TEST(Identity, TensorsThatShareMemoryMustAgreeWhereTheyDo) {
  const Tensor memory = arange(0., 12., 1., f64);
  const Tensor whole = reshape(slice(memory, 0, {.start = 2, .stop = 8}), {2, 3});
  const ParameterSet set{{"apart", slice(memory, 0, {.start = 8})},
                         {"column", select(whole, 1, 1)},
                         {"flat", reshape(whole, {6})},
                         {"turned", transpose(whole)},
                         {"whole", whole}};
  StateDict good;
  for (const auto& [name, x] : set) good[name] = clone(x) + 1;
  const auto refused = [&](const StateDict& state, const std::string& twins) {
    const Tensor before = clone(memory);
    for (const bool strict : {true, false})
      expect_error([&] { set.load_state_dict(state, {.strict = strict}); },
                   "[load_state_dict] " + twins + " share memory in the module, but the state");
    EXPECT_TRUE(all_equal(memory, before));
  };
  const auto other = [&](const std::string& name) {
    StateDict bad = good;
    bad[name] = bad[name] + 0.5;
    return bad;
  };
  refused(other("column"), "`column` and `flat`");
  refused(other("flat"), "`flat` and `turned`");
  refused(other("turned"), "`turned` and `whole`");
  refused(other("whole"), "`column` and `whole`");
  const Tensor backwards = slice(whole, 1, {.start = -1, .stop = -4, .step = -1});
  const ParameterSet turned{{"a", whole}, {"b", backwards}};
  expect_error(
      [&] {
        turned.load_state_dict({{"a", good["whole"]}, {"b", good["whole"]}});
      },
      "`a` and `b` share memory");
  EXPECT_NO_THROW(set.load_state_dict(other("apart"), {.strict = false}));
  set.load_state_dict(good);
  for (const auto& [name, x] : set) EXPECT_TRUE(all_equal(x, good[name])) << name;
  // columns of one matrix interleave in memory, but have no common element
  const ParameterSet columns{{"a", select(whole, 1, 0)}, {"b", select(whole, 1, 1)}};
  EXPECT_NO_THROW(columns.load_state_dict({{"a", zeros({2}, f64)}, {"b", ones({2}, f64)}}));
}

TEST(Identity, ATiedPartOfATrainingRunMustAgree) {
  const TemporaryFolder folder;
  const std::string path = folder / "run";
  Generator rng(3);
  Sequential apart(Linear({.in = 2, .out = 2}, rng), Linear({.in = 2, .out = 2}, rng),
                   Linear({.in = 2, .out = 2}, rng));
  TrainingRun saved;
  saved.add("model", apart);
  saved.save(path);
  Sequential tied = tied_model(1);
  const StateDict before = copy_of(tied.state_dict());
  TrainingRun run;
  run.add("model", tied);
  expect_error([&] { run.load(path); }, "are one tensor in the module, but differ");
  expect_equal(tied.state_dict(), before);
}

// --- a model's own tensors ---

TEST(Identity, AModelTakesItsOwnTensorsUnderOtherNames) {
  Generator rng(1);
  std::mt19937 shuffles(2);
  for (int trial = 0; trial < 40; ++trial) {
    Sequential model;
    for (int i = 0; i < 5; ++i) model.layers.push_back(Linear({.in = 2, .out = 2}, rng));
    StateDict state = model.state_dict();
    const StateDict before = copy_of(state);
    std::vector<std::size_t> order(5);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), shuffles);
    StateDict moved, expected;
    for (std::size_t i = 0; i < 5; ++i)
      for (const std::string part : {".weight", ".bias"}) {
        const std::string from = "layers." + std::to_string(order[i]) + part;
        const std::string to = "layers." + std::to_string(i) + part;
        moved[to] = trial % 2 == 0 ? state.at(from) : flip(state.at(from), {0});
        expected[to] = trial % 2 == 0 ? before.at(from) : flip(before.at(from), {0});
        if (trial % 4 == 3 && part == ".weight") {  // a view that is no copy
          moved[to] = transpose(state.at(from));
          expected[to] = transpose(before.at(from));
        }
      }
    if (trial % 3 == 0)
      ParameterSet(model).load_state_dict(moved);
    else
      model.load_state_dict(moved, {.strict = trial % 3 == 1});
    expect_equal(model.state_dict(), expected);
  }
}

TEST(Identity, ARowOfOwnTensorsIsReadBeforeItIsWritten) {
  const Tensor all = tensor({1, 2, 3, 4}, f64);
  const ParameterSet set{{"a", slice(all, 0, {.stop = 2})}, {"b", slice(all, 0, {.start = 2})}};
  set.assign_row(flip(all, {0}));
  EXPECT_EQ(all.to_vector(), (std::vector<double>{4, 3, 2, 1}));
  const Tensor two = tensor({1, 2, 3, 4, 5}, f64);  // views that overlap the row, shifted
  const ParameterSet shifted{{"a", slice(two, 0, {.start = 1, .stop = 3})},
                             {"b", slice(two, 0, {.start = 3})}};
  shifted.assign_row(slice(two, 0, {.stop = 4}));
  EXPECT_EQ(two.to_vector(), (std::vector<double>{1, 1, 2, 3, 4}));
}

// --- places that others take ---

/// What changes the tensors of a model's places, and whether layers.0.weight leaves it.
struct Change {
  std::string by;
  std::function<void(Sequential&)> act;
  bool leaves;
};

std::vector<Change> changes() {
  const auto linear = [](std::uint64_t seed) {
    Generator rng(seed);
    return Linear({.in = 2, .out = 2}, rng);
  };
  const auto adapt = [](Sequential& m) {
    Generator rng(5);
    add_low_rank(m, "layers.0", {.rank = 1}, rng);
  };
  return {{"Module::to(f64)", [](Sequential& m) { m.to(f64); }, true},
          {"share_with",
           [=](Sequential& m) {
             ParameterSet{{"layers.0.weight", linear(7).weight}}.share_with(m);
           },
           true},
          {"replace()", [=](Sequential& m) { replace(m, "layers.0", linear(8)); }, true},
          {"replace_each()",
           [=](Sequential& m) {
             replace_each(m, "layers.0", [=](Owned<Layer>) -> Owned<Layer> { return linear(9); });
           },
           true},
          {"merge",
           [=](Sequential& m) {
             adapt(m);
             merge_low_rank(m);
           },
           true},
          {"add_low_rank", adapt, false},
          {"merge and unmerge",
           [=](Sequential& m) {
             adapt(m);
             unmerge_low_rank(m, merge_low_rank(m));
           },
           false},
          {"replace and put back",
           [=](Sequential& m) {
             Owned<Layer> old = replace(m, "layers.0", linear(8));
             replace(m, "layers.0", std::move(old));
           },
           false},
          {"swapped by share_with",
           [](Sequential& m) {
             const ParameterSet all = m;
             ParameterSet{{"layers.0.weight", all.choose("layers.1.weight")[0].second},
                          {"layers.1.weight", all.choose("layers.0.weight")[0].second}}
                 .share_with(m);
           },
           false},
          {"replaced inside a sequence",
           [](Sequential& m) {
             replace_each(m, "layers.0", [](Owned<Layer> part) -> Owned<Layer> {
               return Sequential(std::move(part), Activation(Nonlinearity::tanh));
             });
           },
           false}};
}

TEST(Identity, HoldersOfReplacedParametersSaySo) {
  for (const Change& change : changes()) {
    SCOPED_TRACE(change.by);
    Generator rng(1);
    Sequential model(Linear({.in = 2, .out = 2}, rng), Linear({.in = 2, .out = 2}, rng));
    Sgd sgd(model, {.lr = 0.1});
    Adam alone(model.parameters());
    WeightAverage average(model);
    const ParameterSet set = model, part = set.choose("*.weight");
    Svgd svgd(particles_of_rows(model.choose("layers.0.weight")), {.alpha = 0.1});
    const LowRankUpdate update(part, {.rank = 1}, rng);
    const auto dtype = [&] { return model.parameters()[0].dtype(); };
    const auto give_gradients = [&] {
      for (auto [name, x] : set) x.set_grad(ones_like(x));
    };
    const std::map<std::string, std::function<void()>> uses = {
        {"step", [&] { sgd.step(); }},
        {"step of tensors alone", [&] { alone.step(); }},
        {"update", [&] { average.update(); }},
        {"apply", [&] { svgd.apply(); }},
        {"to_row", [&] { set.to_row(); }},
        {"clip_grad_norm", [&] { clip_grad_norm(set, 1); }},
        {"clip_grad_value", [&] { clip_grad_value(set, 1); }},
        {"zero_grad", [&] { set.zero_grad(); }},
        {"trained", [&] { set.trained(); }},
        {"count", [&] { set.count(); }},
        {"pieces", [&] { set.pieces(zeros({12}, f64)); }},
        {"LowRankUpdate", [&] { LowRankUpdate(part, {.rank = 1}, rng); }},
        {"values of a LowRankUpdate", [&] { update.values(); }},
        {"TangentMap",
         [&] {
           infinite::TangentMap(model, ones({1, 2}, dtype()), set);
         }},
        {"of a chosen part", [&] { part.norm(); }},
        {"of a union", [&] { (ParameterSet() | part).freeze(); }}};
    change.act(model);
    for (const auto& [use, act] : uses) {
      SCOPED_TRACE(use);
      give_gradients();
      if (change.leaves)
        expect_error(act, "was replaced by ");
      else
        EXPECT_NO_THROW(act());
      for (auto [name, x] : set) x.set_requires_grad();
    }
    // What is taken now is in its place, in the model and out of it.
    Sgd(model, {.lr = 0.1});
    ParameterSet(model).freeze();
    ParameterSet(model).thaw();
  }
}

// --- memory that two tensors share ---

TEST(Identity, TwoTensorsOnOneMemoryAreRefused) {
  Generator rng(1);
  Linear l0({.in = 2, .out = 2}, rng), l1({.in = 2, .out = 2}, rng);
  const Tensor all = zeros({6});
  const std::map<std::string, std::pair<Tensor, Tensor>> pairs = {
      {"the same elements", {l0.weight, parameter(l0.weight.detach())}},
      {"elements that overlap",
       {parameter(slice(all, 0, {.stop = 4})), parameter(slice(all, 0, {.start = 3}))}},
      {"one inside the other",
       {parameter(slice(all, 0, {.start = 2, .stop = 3})), parameter(all.detach())}}};
  for (const auto& [how, pair] : pairs) {
    const ParameterSet set{{"a", pair.first}, {"b", pair.second}};
    const std::map<std::string, std::function<void()>> uses = {
        {"an optimizer", [&] { Adam{set}; }},
        {"groups of one",
         [&] {
           Sgd(ParameterGroups{{.parameters = {set[0]}}, {.parameters = {set[1]}}}, {.lr = 0.1});
         }},
        {"a sampler", [&] { Sgld(set, {.lr = 0.1, .target = {.count = 10}}, rng); }},
        {"Lbfgs", [&] { Lbfgs{set}; }},
        {"an average", [&] { WeightAverage{set}; }},
        {"to_row", [&] { set.to_row(); }},
        {"assign_row", [&] { set.assign_row(zeros({set.count()}, f64)); }},
        {"pieces", [&] { set.pieces(zeros({set.count()}, f64)); }}};
    for (const auto& [use, act] : uses) {
      SCOPED_TRACE(how + ", " + use);
      expect_error(act, "two tensors that share memory");
    }
  }
  const ParameterSet apart{{"a", parameter(slice(all, 0, {.stop = 3}))},
                           {"b", parameter(slice(all, 0, {.start = 3}))}};
  Adam{apart};
  WeightAverage{apart};
  apart.assign_row(ones({6}, f64));
}

// A gradient belongs to one leaf: what is done to it in place is done to nothing else.
TEST(Identity, AGradientThatIsSetIsTheLeafsOwn) {
  const Tensor seven = tensor({7, 7, 7, 7, 7}, f64);
  const std::map<std::string, std::function<Tensor(const Tensor& x)>> gradients = {
      {"that the caller keeps", [&](const Tensor&) { return slice(seven, 0, {.stop = 2}); }},
      {"of two leaves", [&](const Tensor&) { return slice(seven, 0, {.stop = 2}); }},
      {"expanded", [](const Tensor&) { return expand(tensor({7}, f64), {2}); }},
      {"the parameter", [](const Tensor& x) { return x.detach(); }},
      {"a column", [&](const Tensor&) { return slice(seven, 0, {.stop = 4, .step = 2}); }}};
  for (const auto& [what, gradient] : gradients)
    for (const bool norm : {false, true}) {
      SCOPED_TRACE(what);
      Tensor a = leaf(tensor({7, 7}, f64)), b = leaf(tensor({7, 7}, f64));
      a.set_grad(gradient(a));
      b.set_grad(gradient(b));
      if (norm)
        EXPECT_NEAR(clip_grad_norm({a, b}, 7), 14, 1e-12);
      else
        clip_grad_value({a, b}, 3.5);
      for (const Tensor& x : {a, b}) {
        EXPECT_TRUE(all_close(x.grad(), full({2}, 3.5, f64), 1e-12)) << x.grad();
        EXPECT_TRUE(all_equal(x.detach(), full({2}, 7, f64)));
      }
      EXPECT_TRUE(all_equal(seven, full({5}, 7, f64)));
    }
  Tensor x = leaf(zeros({3}, f64)), y = ones({3}, f64);
  const std::byte* bytes = y.storage().bytes();
  x.set_grad(std::move(y));
  EXPECT_EQ(x.grad().storage().bytes(), bytes) << "nobody else sees it";
}

// --- while an average stands in the places ---

TEST(Identity, WhatAnAverageWouldLoseIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "run";
  Generator rng(1);
  const auto linear = [&] { return Linear({.in = 2, .out = 2}, rng); };
  Sequential model(linear(), linear()), other(linear(), linear());
  add_low_rank(model, "layers.1", {.rank = 1}, rng);
  const LowRankUpdate update(model.choose("layers.0.weight"), {.rank = 1}, rng);
  TrainingRun run, of_set;
  ParameterSet set = model;
  run.add("model", model);
  of_set.add("set", set);
  run.save(path);
  of_set.save(path + "2");
  WeightAverage average(model, {.decay = 1}), of_adapters(update.adapters);
  average.update();
  of_adapters.update();
  set.assign_row(full({set.count()}, 0.25, f64));
  average.update();
  const StateDict before = copy_of(model.state_dict());
  const std::map<std::string, std::function<void()>> uses = {
      {"to", [&] { model.to(f64); }},
      {"replace", [&] { replace(model, "layers.0", linear()); }},
      {"replace_each",
       [&] { replace_each(model, "layers.?", [](Owned<Layer> part) { return part; }); }},
      {"merge_low_rank", [&] { merge_low_rank(model); }},
      {"share_with", [&] { other.choose("layers.0.*").share_with(model); }},
      {"merge", [&] { update.merge(); }},
      {"save", [&] { run.save(path); }},
      {"load", [&] { run.load(path); }},
      {"save of a set", [&] { of_set.save(path); }},
      {"load of a set", [&] { of_set.load(path + "2"); }}};
  for (const auto& [use, act] : uses) {
    SCOPED_TRACE(use);
    {
      const WeightAverage::Scope scope = average.apply();
      expect_error(act, "temporarily holds the value of WeightAverage::apply()");
    }
    expect_equal(model.state_dict(), before);
  }
  {
    const WeightAverage::Scope scope = of_adapters.apply();
    expect_error([&] { update.merge(); }, "temporarily holds the value of WeightAverage::apply()");
  }
  update.merge();
  merge_low_rank(model);
  run.save(path);
}

// Tensors without history have no mark; two averages of theirs do not stand there at once either.
TEST(Identity, OneAverageAtATimeAlsoOfPlainTensors) {
  const Tensor x = zeros({4}, f64);
  const ParameterSet all{{"a", x}}, same{{"b", x}}, part{{"a", slice(x, 0, {.stop = 2})}},
      rest{{"a", slice(x, 0, {.start = 2})}}, leaves{{"a", parameter(x.detach())}};
  WeightAverage average(part);
  average.update();
  for (const ParameterSet* others : {&all, &same, &part, &leaves, &rest}) {
    WeightAverage other(*others);
    other.update();
    fill_(x, 2);
    {
      const WeightAverage::Scope scope = average.apply();
      if (others == &rest) {
        const WeightAverage::Scope beside = other.apply();
        EXPECT_EQ(x.to_vector(), std::vector<double>(4, 0));
      } else {
        expect_error([&] { static_cast<void>(other.apply()); }, "end that scope first");
        expect_error([&] { other.update(); }, "end that scope first");
      }
    }
    EXPECT_EQ(x.to_vector(), std::vector<double>(4, 2));
    fill_(x, 0);
    static_cast<void>(other.apply());
  }
}

// What put tensors into a model has ended when backward runs a checkpoint again: where the model's
// own stand there, the second run has the same bits, and would give the first ones no gradient.
TEST(Identity, ACheckpointFindsTheTensorsOfItsFirstRun) {
  Generator rng(1);
  MultiHeadAttention model({.dim = 4, .heads = 2}, rng);
  Linear map({.in = 4, .out = 4, .parameterization = Parameterization::ntk}, rng);
  const std::string std_name = map.hyperparameters()[0].first;
  const Tensor x = normal({1, 3, 4}, rng);
  model.freeze();
  const LowRankUpdate update(model.choose("query"), {.rank = 1}, rng);  // whose B begins at 0
  std::vector<Tensor> clones;
  for (const Tensor& w : model.parameters()) clones.push_back(parameter(clone(w.detach())));
  const Tensor mask = parameter(ones({2}));
  const Tensor number = map.hyperparameters()[0].second;
  const Tensor trained = parameter(clone(number.detach()));
  using Run = std::function<Tensor()>;
  const auto set_number = [&](const Tensor& value) { map.set_hyperparameter(std_name, value); };
  struct Case {
    std::string by;
    Tensor trained;
    const Layer* layer;
    std::function<Tensor(const Run& run)> inside;
  };
  const std::vector<Case> cases = {
      {"functional_call of updates", update.adapters[1].second, &model,
       [&](const Run& run) { return functional_call(model, update.set, update.values(), run); }},
      {"functional_call of clones", clones[0], &model,
       [&](const Run& run) { return functional_call(model, clones, run); }},
      {"HeadMask", mask, &model,
       [&](const Run& run) {
         const HeadMask masked(model, mask);
         return run();
       }},
      {"set_hyperparameter", trained, &map, [&](const Run& run) {
         set_number(trained);
         const Tensor y = run();
         set_number(number);
         return y;
       }}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.by);
    const TensorFunction f = [&](const std::vector<Tensor>& in) { return (*c.layer)(in[0]); };
    const auto loss = [&](const Tensor& y) { return sum(square(y)); };
    const Tensor plain = grad(c.inside([&] { return loss(f({x})); }), c.trained);
    const Tensor ended = c.inside([&] { return checkpoint(f, {x}); });
    expect_error([&] { backward(loss(ended)); }, "it no longer depends on a tensor of shape");
    const Tensor inside = c.inside([&] { return grad(loss(checkpoint(f, {x})), c.trained); });
    EXPECT_TRUE(all_close(inside, plain));
    const TensorFunction whole = [&](const auto& in) { return c.inside([&] { return f(in); }); };
    EXPECT_TRUE(all_close(grad(loss(checkpoint(whole, {x})), c.trained), plain));
  }
}

// The layer that was taken out is the caller's: it may be trained alone.
TEST(Identity, WhatWasTakenOutLivesOn) {
  Generator rng(1);
  Sequential model(Linear({.in = 2, .out = 2}, rng), Linear({.in = 2, .out = 2}, rng));
  Sgd before(model, {.lr = 0.1});
  Owned<Layer> old = replace(model, "layers.0", Linear({.in = 2, .out = 2}, rng));
  backward(sum((*old)(ones({1, 2}))) + sum(model(ones({1, 2}))));
  expect_error([&] { before.step(); }, "was replaced by replace()");
  Sgd after(*old, {.lr = 0.1});
  after.step();
  old->freeze();
  old->thaw();
  old->named_parameters().to_row();
  Sgd(model, {.lr = 0.1}).step();
}

// A mark of share_with ends where the tensor stands in the model again.
TEST(Identity, TheMarkOfSharingEnds) {
  Generator rng(1);
  Sequential model(Linear({.in = 2, .out = 2}, rng), Linear({.in = 2, .out = 2}, rng));
  ParameterSet{{"layers.1.weight", model.parameters()[0]}}.share_with(model);  // tied
  add_low_rank(model, "layers.0", {.rank = 1}, rng);
  const auto apart = merge_low_rank(model);  // layers.0 has a copy, layers.1 the tensor
  const Tensor merged = model.choose("layers.0.weight")[0].second;
  ParameterSet{{"layers.1.weight", merged}}.share_with(model);  // which leaves the model,
  unmerge_low_rank(model, apart);                               // and comes back
  backward(sum(model(ones({1, 2}))));
  Sgd sgd(model, {.lr = 0.1});
  EXPECT_NO_THROW(sgd.step());
  EXPECT_NO_THROW(model.freeze());
}

TEST(Identity, OneTensorThereIsGivenOne) {
  Generator rng(1);
  Sequential model = tied_model(1);
  const Linear one({.in = 2, .out = 2}, rng), two({.in = 2, .out = 2}, rng);
  const auto before = model.parameters()[0].history();
  expect_error(
      [&] {
        ParameterSet{{"layers.0.weight", one.weight}, {"layers.2.weight", two.weight}}.share_with(
            model);
      },
      "`layers.0.weight` and `layers.2.weight` are one tensor in the other model, but two "
      "tensors in this set");
  EXPECT_EQ(model.parameters()[0].history(), before);
}

// Two models' parameters in one set have one name twice.
TEST(Identity, TwoTensorsOfOneNameHaveNoPlace) {
  Generator rng(1);
  Sequential a = tied_model(1), b = tied_model(2), c = tied_model(3);
  const auto before = c.parameters()[0].history();
  const ParameterSet both = a.named_parameters() | b;
  expect_error([&] { both.share_with(c); },
               "[share_with] two different parameters are named `layers.");
  expect_error([&] { both.state_dict(); }, "[state_dict] two parameters are named `layers.");
  EXPECT_EQ(c.parameters()[0].history(), before);
  const ParameterSet twice{{"a", a.parameters()[0]}, {"b", a.parameters()[0]}};
  expect_error([&] { LowRankUpdate(twice, {.rank = 1}, rng); }, "has only 1 tensors");
}

// Constants in a model's places are told apart, too.
TEST(Identity, ConstantsAreSharedOneByOne) {
  Generator rng(1);
  Sequential model(Linear({.in = 2, .out = 2}, rng), Linear({.in = 2, .out = 2}, rng));
  std::vector<Tensor> values;
  for (const Tensor& x : model.parameters()) values.push_back(clone(x.detach()));
  functional_call(model, values, [&] {
    const Tensor w = zeros({2, 2});
    ParameterSet{{"layers.0.weight", w}}.share_with(model);
    EXPECT_TRUE(same_elements(model.choose("layers.0.weight")[0].second, w));
    EXPECT_FALSE(same_elements(model.choose("layers.1.weight")[0].second, w));
    return zeros({1});
  });
}

}  // namespace
}  // namespace ladon::test::identity_test
