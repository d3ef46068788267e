// Saved states of every optimizer, sampler and average identify parameters by name, not by
// position. The test registry finds a class that has a state per parameter and no row here.

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::state_names_test {
namespace {

/// A class with a state, over any set.
struct Stateful {
  virtual ~Stateful() = default;
  /// One step: by the gradients that the parameters have, of Σ⟨x, c⟩ + ½|x|².
  virtual void step(const ParameterSet& set, int t) = 0;
  virtual StateDict state() const = 0;
  virtual void load(const StateDict& state) = 0;
};

struct StateRow {
  std::string name;
  std::function<std::unique_ptr<Stateful>(const ParameterSet&)> make;
  bool bits = true;  ///< Whether a run that resumes in another order has the same bits.
};

/// Slope of the loss at step t, by the name of the parameter.
Tensor pull(const std::string& name, const Tensor& x, int t) {
  const double c = 0.1 * static_cast<double>(name.back() - 'a' + 1) * (t % 3 - 0.7);
  return full(x.shape(), c, x.dtype());
}

template <class T>
struct Holder : Stateful {
  T held;
  template <class... Arguments>
  explicit Holder(Arguments&&... arguments) : held(std::forward<Arguments>(arguments)...) {}
  void step(const ParameterSet& set, int t) override {
    if constexpr (std::is_same_v<T, Lbfgs>) {
      held.step([&] {
        Tensor loss = zeros({}, f64);
        for (const auto& [name, x] : set)
          loss = loss + sum(x * pull(name, x, 0)) + 0.5 * sum(square(x)) + 0.1 * sum(exp(x));
        return loss;
      });
    } else {
      for (auto [name, x] : set) x.set_grad(pull(name, x, t) + x.detach());
      if constexpr (std::is_same_v<T, WeightAverage>) {
        const NoGrad off;
        for (const auto& [name, x] : set) add_(x.detach(), x.grad(), -0.1);
        held.update();
      } else {
        held.step();
      }
    }
  }
  StateDict state() const override { return held.state_dict(); }
  void load(const StateDict& state) override { held.load_state_dict(state); }
};

template <class T, class Options>
StateRow row(const char* name, Options options) {
  const bool ordered_sums = std::is_same_v<T, Lbfgs>;  // over all parameters, in their order
  return {name,
          [options](const ParameterSet& set) -> std::unique_ptr<Stateful> {
            if constexpr (std::is_base_of_v<Sampler, T>)
              return std::make_unique<Holder<T>>(set, options, Generator(3));
            else
              return std::make_unique<Holder<T>>(set, options);
          },
          !ordered_sums};
}

const std::vector<StateRow>& rows() {
  const TargetDensity target{.count = 100};
  static const std::vector<StateRow> all = {
      row<Sgd>("Sgd", SgdOptions{.lr = 0.1, .momentum = 0.9}),
      row<Sgd>("Sgd without momentum", SgdOptions{.lr = 0.1}),
      row<Adam>("Adam", AdamOptions{.lr = 0.1}),
      row<AdamW>("AdamW", AdamWOptions{.lr = 0.1, .amsgrad = true}),
      row<Rmsprop>("Rmsprop", RmspropOptions{.lr = 0.1, .momentum = 0.5, .centered = true}),
      row<Adagrad>("Adagrad", AdagradOptions{.lr = 0.1}),
      row<Lion>("Lion", LionOptions{.lr = 0.01}),
      row<Lbfgs>("Lbfgs", LbfgsOptions{.iterations = 1, .line_search = false}),
      row<Sgld>("Sgld", SgldOptions{.lr = 0.01, .target = target}),
      row<Psgld>("Psgld", PsgldOptions{.lr = 0.01, .target = target}),
      row<Sghmc>("Sghmc", SghmcOptions{.lr = 0.01, .target = target}),
      row<Sgnht>("Sgnht", SgnhtOptions{.lr = 0.01, .target = target}),
      row<WeightAverage>("WeightAverage", WeightAverageOptions{.decay = 0.8})};
  return all;
}

Tensor start(double at) { return leaf(tensor({at, at - 0.5, 0.3}, f64)); }

ParameterSet three() { return {{"a", start(1)}, {"b", start(-2)}, {"c", start(0.4)}}; }

/// The same names and values, tensors of their own, in another order.
ParameterSet copied(const ParameterSet& set, const std::vector<std::size_t>& order) {
  ParameterSet copy;
  for (const std::size_t i : order) copy.emplace_back(set[i].first, leaf(set[i].second));
  return copy;
}

void every(const std::function<void(const StateRow&)>& test) {
  for (const StateRow& row : rows()) {
    SCOPED_TRACE(row.name);
    try {
      test(row);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

void expect_same_state(const StateDict& a, const StateDict& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, x] : a) EXPECT_TRUE(same_bits(x, b.at(name))) << name;
}

TEST(StateNames, GoToTheParametersOfTheirNames) {
  every([](const StateRow& row) {
    for (const std::vector<std::size_t>& order :
         {std::vector<std::size_t>{0, 1, 2}, {2, 0, 1}, {1, 0, 2}}) {
      const TemporaryFolder folder;
      const std::string path = (folder / "state.safetensors").string();
      const ParameterSet set = three();
      const auto one = row.make(set);
      for (int t = 0; t < 4; ++t) one->step(set, t);
      save_safetensors(path, one->state());
      const ParameterSet others = copied(set, order);
      const auto other = row.make(others);
      other->load(load_safetensors(path));
      expect_same_state(one->state(), other->state());
      for (int t = 4; t < 8; ++t) {
        one->step(set, t);
        other->step(others, t);
      }
      for (std::size_t i = 0; i < order.size(); ++i) {
        const Tensor x = set[order[i]].second.detach(), y = others[i].second.detach();
        EXPECT_TRUE(row.bits ? same_bits(x, y) : all_close(x, y, 1e-9, 1e-9))
            << set[order[i]].first << x << y;
      }
    }
  });
}

TEST(StateNames, OfOtherParametersAreListed) {
  const auto misfit = [](double) { return leaf(zeros({1, 3}, f64)); };
  struct Case {
    ParameterSet set;
    std::vector<std::string> said;
  };
  const std::vector<Case> cases = {
      {{{"a", start(1)}, {"b", start(2)}}, {"has `c`"}},
      {{{"a", start(1)}}, {"has `b`, `c`"}},
      {{{"a", start(1)}, {"b", start(2)}, {"c", start(3)}, {"d", start(4)}}, {"lacks `d`"}},
      {{{"x", start(1)}, {"b", start(2)}, {"y", start(3)}}, {"lacks `x`, `y`", "has `a`, `c`"}},
      {{{"a", start(1)}, {"b", misfit(2)}, {"c", start(3)}}, {"1, 3]"}},
      {{start(1), start(2), start(3)}, {"lacks `0`, `1`, `2`", "has `a`, `b`, `c`"}}};
  every([&](const StateRow& row) {
    const ParameterSet set = three();
    const auto one = row.make(set);
    for (const int steps : {0, 2}) {  // also before the first, when there is no moment
      for (int t = 0; t < steps; ++t) one->step(set, t);
      for (const Case& c : cases) {
        const auto other = row.make(c.set);
        const StateDict before = other->state();
        for (const std::string& said : c.said)
          expect_error([&] { other->load(one->state()); }, said);
        expect_same_state(other->state(), before);
      }
    }
  });
}

TEST(StateNames, OfTwoParametersMustDiffer) {
  every([](const StateRow& row) {
    const ParameterSet twice{{"weight", start(1)}, {"weight", start(2)}};
    const auto one = row.make(twice);
    one->step(twice, 0);
    expect_error([&] { one->state(); }, "two parameters are named `weight`");
    expect_error([&] { one->load(row.make(three())->state()); }, "two parameters are named");
    const ParameterSet apart = ParameterSet{twice[0]}.with_prefix("encoder.") |
                               ParameterSet{twice[1]}.with_prefix("decoder.");
    row.make(apart)->state();
  });
}

TEST(StateNames, OfTensorsAloneAreTheirPlaces) {
  every([](const StateRow& row) {
    const ParameterSet set({start(1), start(2)});
    const auto one = row.make(set);
    one->step(set, 0);
    bool numbered = false;
    for (const auto& [name, x] : one->state())
      numbered = numbered || name.find(".1") != std::string::npos;
    EXPECT_TRUE(numbered);
    expect_error(
        [&] {
          row.make({{"a", start(1)}, {"b", start(2)}})->load(one->state());
        },
        "made from tensors without names, number their parameters");
  });
}

/// The entries of a state that name a parameter, and by which names.
std::set<std::string> names_of(const StateDict& state) {
  std::set<std::string> names;
  for (const auto& [key, x] : state)
    for (std::size_t at = 0; at < key.size();) {
      const std::size_t dot = std::min(key.find('.', at), key.size());
      const std::string part = key.substr(at, dot - at);
      if (!part.empty() && part.find_first_not_of("0123456789") == part.npos) names.insert(part);
      at = dot + 1;
    }
  return names;
}

// A part of a set keeps the names that it has there, and so does a set whose names are digits.
TEST(StateNames, OfDigitsStay) {
  every([](const StateRow& row) {
    const ParameterSet all({start(1), start(2), start(3)});
    const ParameterSet front = all.except("2"), back = all.except("0");
    const auto one = row.make(front), other = row.make(back);
    EXPECT_EQ(names_of(one->state()), (std::set<std::string>{"0", "1"}));
    EXPECT_EQ(names_of(other->state()), (std::set<std::string>{"1", "2"}));
    expect_error([&] { other->load(one->state()); }, "lacks `2`, and it has `0`");
    const Tensor a = start(1), b = start(2);
    const ParameterSet set{{"7", a}, {"3", b}}, turned{{"3", leaf(b)}, {"7", leaf(a)}};
    const auto first = row.make(set), second = row.make(turned);
    for (int t = 0; t < 3; ++t) first->step(set, t);
    second->load(first->state());
    expect_same_state(first->state(), second->state());
    EXPECT_EQ(names_of(second->state()), (std::set<std::string>{"3", "7"}));
    const ParameterSet twice{{"7", a}, {"7", b}};
    expect_error([&] { row.make(twice)->state(); }, "two parameters are named `7`");
  });
}

TEST(StateNames, OfDigitsInGroupsStay) {
  const ParameterSet all({start(1), start(2), start(3)});
  const auto names = [](const ParameterGroups& groups) {
    return names_of(Adam(groups).state_dict());
  };
  const auto groups = decay_except(all, "1");
  EXPECT_EQ(names(groups), (std::set<std::string>{"0", "1", "2"}));
  Adam adam(groups);
  for (auto [name, x] : all) x.set_grad(full({3}, std::stod(name), f64));
  adam.step();
  EXPECT_NEAR(adam.state_dict().at("parameter.1.first_moment").to_vector()[0], 0.1, 1e-15)
      << "the name is that in the set, not the place among the groups";
  EXPECT_EQ(names({{.parameters = all.choose("2")}}), (std::set<std::string>{"2"}));
  expect_error(
      [&] {
        names({{.parameters = {start(1)}}, {.parameters = all.except("1")}});
      },
      "two parameters are named `0`");
}

// A state of version 0.1 has no shapes, and numbers over all groups, whatever the names were.
TEST(StateNames, OfVersionOneAreNumberedOverGroups) {
  const ParameterSet all({start(1), start(2), start(3)});
  Adam adam(decay_except(all, "1"));  // 0 and 2, then 1
  StateDict old{{"lr", scalar(0.1, f64)}, {"steps", scalar(1, i64)}};
  for (int i = 0; i < 3; ++i) {
    const std::string name = "parameter." + std::to_string(i) + ".";
    old[name + "steps"] = scalar(1, i64);
    old[name + "first_moment"] = full({3}, i, f64);
    old[name + "second_moment"] = full({3}, i, f64);
  }
  adam.load_state_dict(old);
  const StateDict state = adam.state_dict();
  for (const auto& [name, place] : std::map<std::string, double>{{"0", 0}, {"2", 1}, {"1", 2}})
    EXPECT_EQ(state.at("parameter." + name + ".first_moment").to_vector()[0], place) << name;
}

// Also where they stand in groups: the place is that among all.
TEST(StateNames, OfTensorsAloneInGroups) {
  const Tensor a = start(1), b = start(2), c = start(3);
  Adam adam(ParameterGroups{{.parameters = {a}}, {.parameters = {b, c}, .lr_scale = 0.5}});
  const StateDict state = adam.state_dict();
  for (const char* name : {"parameter.0.steps", "parameter.1.steps", "parameter.2.steps"})
    EXPECT_TRUE(state.contains(name)) << name;
}

TEST(StateNames, OfVersionOneLoadByPlace) {
  const Tensor a = start(1), b = start(2);
  const Tensor m = tensor({1, 2, 3}, f64), v = tensor({4, 5, 6}, f64);
  const StateDict old{{"lr", scalar(0.1, f64)},
                      {"steps", scalar(2, i64)},
                      {"parameter.0.steps", scalar(1, i64)},
                      {"parameter.0.first_moment", m},
                      {"parameter.0.second_moment", v},
                      {"parameter.1.steps", scalar(2, i64)},
                      {"parameter.1.first_moment", v},
                      {"parameter.1.second_moment", m}};
  Adam adam({a, b});
  adam.load_state_dict(old);
  EXPECT_TRUE(same_bits(adam.state_dict().at("parameter.1.first_moment"), v));
  Adam named(ParameterSet{{"a", a}, {"b", b}});
  expect_error([&] { named.load_state_dict(old); }, "states of version 0.1, and of optimizers");
}

// What was never updated, being frozen or not used, had no entry there.
TEST(StateNames, OfVersionOneLackWhatWasNeverUpdated) {
  const Tensor v = tensor({4, 5, 6}, f64);
  StateDict old{{"lr", scalar(0.1, f64)},
                {"steps", scalar(2, i64)},
                {"parameter.0.steps", scalar(2, i64)},
                {"parameter.0.momentum", v}};
  Sgd sgd({start(1), start(2)}, {.lr = 0.5, .momentum = 0.9});
  sgd.load_state_dict(old);
  StateDict now = sgd.state_dict();
  EXPECT_TRUE(same_bits(now.at("parameter.0.momentum"), v));
  EXPECT_EQ(now.at("parameter.1.steps").item(), 0);
  EXPECT_FALSE(now.contains("parameter.1.momentum"));
  now.erase("parameter.1.steps");
  expect_error([&] { sgd.load_state_dict(now); }, "it lacks `1`");
  Sgd one({start(1)}, {.lr = 0.5, .momentum = 0.9});
  old["parameter.1.steps"] = scalar(1, i64);
  expect_error([&] { one.load_state_dict(old); }, "it has `1`");
  Sgld sampler({start(1), start(2)}, {.lr = 0.01, .target = {.count = 100}}, Generator(3));
  sampler.load_state_dict({{"lr", scalar(0.1, f64)},
                           {"steps", scalar(1, i64)},
                           {"temperature", scalar(1, f64)},
                           {"parameter.1.steps", scalar(1, i64)}});
  EXPECT_EQ(sampler.state_dict().at("parameter.0.steps").item(), 0);
  WeightAverage average(ParameterSet({start(1), start(2)}));
  average.update();
  average.load_state_dict({{"updates", scalar(0, i64)}});
  EXPECT_EQ(average.updates(), 0);
  EXPECT_TRUE(all_equal(average.state_dict().at("parameter.1"), zeros({3}, f64)));
  expect_error([&] { average.load_state_dict({{"updates", scalar(1, i64)}}); }, "it lacks `0`");
}

// Whatever of a state is refused, nothing of it is taken: with each of its entries missing, of
// another shape or kind, negative, or beside one that is not known.
TEST(StateNames, ARefusedStateChangesNothing) {
  every([](const StateRow& row) {
    const ParameterSet set = three();
    const auto one = row.make(set), other = row.make(set);
    one->step(set, 0);
    const StateDict before = one->state();
    other->step(set, 1);
    other->step(set, 2);
    const StateDict good = other->state();
    std::vector<StateDict> bad(1, good);
    bad[0]["unknown"] = scalar(1, f64);
    for (const auto& [name, x] : good)
      for (const Tensor& instead : {Tensor(), zeros({7, 1, 2}, f64), scalar(-1, x.dtype())}) {
        bad.push_back(good);
        bad.back()[name] = instead;
        if (!instead.defined()) bad.back().erase(name);
      }
    bad.push_back(good);
    if (good.contains("parameter.a.stream"))
      bad.back()["parameter.a.stream"] = good.at("parameter.b.stream");
    int refused = 0;
    for (const StateDict& state : bad) {
      try {
        one->load(state);
        one->load(before);  // it was taken
      } catch (const Error&) {
        ++refused;
        expect_same_state(one->state(), before);
      }
    }
    EXPECT_GT(refused, 3);
  });
}

// Two samplers that draw for two parameters from one stream would draw the same.
TEST(StateNames, StreamsOfNoiseDiffer) {
  const ParameterSet set = three();
  Sgld sgld(set, {.lr = 0.01, .target = {.count = 100}}, Generator(3));
  StateDict state = sgld.state_dict();
  state["parameter.a.stream"] = state.at("parameter.b.stream");
  expect_error([&] { sgld.load_state_dict(state); }, "share a stream of noise");
  state.erase("parameter.a.stream");
  expect_error([&] { sgld.load_state_dict(state); }, "no entry \"parameter.a.stream\"");
}

}  // namespace
}  // namespace ladon::test::state_names_test
