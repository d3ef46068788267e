#include "ladon/optim/optimizer.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/layers/linear.h"
#include "ladon/optim/optim.h"
#include "ladon/tests/optim/makers.h"

namespace ladon::test::optimizer_test {
namespace {

TEST(Optimizer, UpdatesLongParametersAlikeEverywhere) {
  const std::int64_t n = 100003;
  const std::vector<Make> makers = {
      with<Sgd>(SgdOptions{.lr = 0.1, .momentum = 0.9}),
      with<Adam>(AdamOptions{.lr = 0.1, .amsgrad = true}),
      with<Rmsprop>(RmspropOptions{.momentum = 0.9, .centered = true}),
      with<Adagrad>(AdagradOptions{.lr = 0.1}), with<Lion>(LionOptions{.weight_decay = 0.1})};
  for (const DType dtype : {f32, f64})
    for (const Make& make : makers) {
      Generator rng(1);
      const Tensor start = normal({n}, rng, 0, 1, dtype), g = normal({n}, rng, 0, 1, dtype);
      Tensor all = leaf(start), last = leaf(slice(start, 0, {.start = n - 1}));
      const auto optimizer = make({all, last});
      for (int t = 0; t < 3; ++t) {
        all.set_grad(clone(g));
        last.set_grad(clone(slice(g, 0, {.start = n - 1})));
        optimizer->step();
      }
      EXPECT_TRUE(same_bits(slice(all, 0, {.start = n - 1}), last)) << to_string(dtype);
    }
}

TEST(Optimizer, SkipsParametersWithoutGradient) {
  Tensor x = leaf(tensor({1, 2}, f64)), y = leaf(tensor({3}, f64));
  Adam adam({x, y}, {.lr = 0.1, .weight_decay = 0.5});
  x.set_grad(tensor({1, 1}, f64));
  adam.step();
  adam.step();
  EXPECT_EQ(y.item(), 3);
  EXPECT_EQ(adam.steps(), 2);
  // A parameter's bias correction counts its own updates: its first one is lr·sign(g).
  adam.zero_grad();
  EXPECT_FALSE(x.grad().defined());
  y.set_grad(tensor({1e6}, f64));
  adam.step();
  EXPECT_NEAR(y.item(), 2.9, 1e-12);
}

TEST(Optimizer, RefusesAStepWithoutAnyGradient) {
  const Tensor x = leaf(tensor({1, 2}, f64)), y = leaf(tensor({3}, f64));
  for (const Make& make :
       {with<Sgd>(SgdOptions{.momentum = 0.9, .weight_decay = 0.5}), with<AdamW>(AdamWOptions{})}) {
    const auto optimizer = make({x, y});
    expect_error([&] { optimizer->step(); }, "none of the 2 parameters has a gradient");
    backward(sum(x));
    optimizer->zero_grad();
    expect_error([&] { optimizer->step(); },
                 "call backward() on a loss that depends on them, after zero_grad()");
    EXPECT_EQ(optimizer->steps(), 0);
    expect_values(x, {1, 2}, 0);
  }
}

TEST(Optimizer, KnowsThatItsParametersWereReplaced) {
  Generator rng(1);
  Linear linear({.in = 3, .out = 2}, rng);
  const Tensor free = leaf(tensor({1, 2}, f64));
  Adam adam({free, linear.weight, linear.bias});
  const Tensor old = linear.weight;
  linear.to(f64);
  backward(sum(linear(ones({1, 3}, f64))) + sum(free));
  expect_error([&] { adam.step(); },
               "a parameter of shape [2, 3] (f32) was replaced by Module::to(f64) after it was "
               "taken; construct again");
  EXPECT_EQ(adam.steps(), 0);
  expect_values(free, {1, 2}, 0);
  EXPECT_TRUE(same_bits(old, cast(linear.weight.detach(), f32)));
  Adam anew(linear.parameters());
  anew.step();
  EXPECT_FALSE(same_bits(old, cast(linear.weight.detach(), f32)));
}

TEST(Optimizer, GroupsHaveTheirOwnSettings) {
  Tensor a = leaf(tensor({2}, f64)), b = leaf(tensor({2}, f64));
  Sgd sgd(std::vector<ParameterGroup>{{.parameters = {a}},
                                      {.parameters = {b}, .lr_scale = 0.5, .weight_decay = 0}},
          {.lr = 0.1, .weight_decay = 1});
  a.set_grad(tensor({1}, f64));
  b.set_grad(tensor({1}, f64));
  sgd.step();
  EXPECT_NEAR(a.item(), 2 - 0.1 * (1 + 2), 1e-15);
  EXPECT_NEAR(b.item(), 2 - 0.05 * 1, 1e-15);
  sgd.set_lr(0);
  sgd.step();
  EXPECT_NEAR(a.item(), 1.7, 1e-15);
}

TEST(Optimizer, TakesItsRateFromASchedule) {
  Tensor x = leaf(tensor({0}, f64));
  Sgd sgd({x}, {.lr = 2});
  sgd.set_schedule([](std::int64_t step) { return 1 / (1 + double(step)); });
  for (int t = 0; t < 3; ++t) {  // −2·(1 + 1/2 + 1/3)
    EXPECT_EQ(sgd.rate(), 2 / (1 + double(t)));
    x.set_grad(tensor({1}, f64));
    sgd.step();
  }
  EXPECT_NEAR(x.item(), -11.0 / 3, 1e-14);
  EXPECT_EQ(sgd.lr(), 2);
  sgd.set_schedule([](std::int64_t) { return -1.0; });
  expect_error([&] { sgd.step(); }, "the schedule's factor is -1");
  EXPECT_EQ(sgd.steps(), 3);
  sgd.set_schedule({});
  EXPECT_EQ(sgd.rate(), 2);
}

TEST(Optimizer, ScheduleGoesOnAfterResuming) {
  const auto with_schedule = [](const Tensor& x) {
    auto sgd = std::make_unique<Sgd>(std::vector{x}, SgdOptions{.lr = 0.01, .momentum = 0.9});
    sgd->set_schedule(schedule::cosine({.steps = 20, .warmup = 5}));
    return sgd;
  };
  const Tensor x = leaf(tensor({1, -2, 0.5}, f64));
  const auto sgd = with_schedule(x);
  run(*sgd, x, 0, 7);
  const Tensor y = leaf(x);
  const auto resumed = with_schedule(y);
  resumed->load_state_dict(sgd->state_dict());
  run(*sgd, x, 7, 20);
  run(*resumed, y, 7, 20);
  EXPECT_TRUE(same_bits(x, y)) << x << y;
}

// Σ (n_i/N)·mean_i is the mean of all N, however they are parted.
TEST(Optimizer, PartsOfABatchAddUpToIt) {
  const Tensor x = gaussian({10, 3}, 1), y = gaussian({10, 2}, 2);
  Generator rng(3);
  Linear linear({.in = 3, .out = 2}, rng);
  linear.to(f64);
  backward(mse_loss(linear(x), y));
  const Tensor whole = clone(linear.weight.grad());
  linear.zero_grad();
  for (const auto& [from, to] : {std::pair{0, 4}, {4, 8}, {8, 10}}) {
    const Slice part{.start = from, .stop = to};
    backward(mse_loss(linear(slice(x, 0, part)), slice(y, 0, part)) * (double(to - from) / 10));
  }
  EXPECT_TRUE(all_close(linear.weight.grad(), whole, 1e-13, 1e-15));
}

TEST(Optimizer, SparesParametersFromDecayByName) {
  struct Model : Layer {
    Tensor weight = parameter(ones({2, 2}, f64)), query_bias = parameter(ones({2, 2}, f64)),
           scale = parameter(ones({2}, f64));
    Tensor forward(const Tensor& x) const override { return x; }
    std::string describe() const override { return "Model"; }
    void visit(Visitor& v) override {
      v("weight", weight);
      v("query_bias", query_bias);
      v("scale", scale);
    }
  };
  const auto after = [](const auto&... spared) {
    Model model;
    AdamW adam(decay_except(model, spared...), {.lr = 0.5, .weight_decay = 0.5});
    for (Tensor& x : model.parameters()) x.set_grad(zeros(x.shape(), f64));
    adam.step();  // a gradient of 0 leaves the decay: 1 − 0.5·0.5
    return std::vector<double>{amax(model.weight).item(), amax(model.query_bias).item(),
                               amax(model.scale).item()};
  };
  EXPECT_EQ(after(), (std::vector<double>{0.75, 1, 1}));
  EXPECT_EQ(after([](const std::string& name, const Tensor&) { return name == "weight"; }),
            (std::vector<double>{1, 0.75, 0.75}));
  EXPECT_EQ(after([](const std::string&, const Tensor&) { return true; }),
            (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(after("weight"), (std::vector<double>{1, 0.75, 0.75}));
  EXPECT_EQ(after(std::string("*bias")), (std::vector<double>{0.75, 1, 0.75}));
  const auto listed = [](std::initializer_list<const char*> spared) {
    Model model;
    return decay_except(model, spared).size();
  };
  EXPECT_EQ(listed({"weight", "s*"}), 2u);
  EXPECT_EQ(listed({"*"}), 1u);
  expect_error([] { decay_except(Model(), ParameterChoice()); }, "empty function");
  expect_error([] { decay_except(Model(), {"weight", "wieght"}); }, "wieght");
}

TEST(Optimizer, ResumesBitForBitFromAFile) {
  const std::vector<Make> makers = {
      with<Sgd>(SgdOptions{.lr = 0.1, .momentum = 0.9, .nesterov = true}),
      with<Sgd>(SgdOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5}),
      with<Sgd>(SgdOptions{}),
      with<Adam>(AdamOptions{.lr = 0.1, .weight_decay = 0.1}),
      with<AdamW>(AdamWOptions{}),
      with<AdamW>(AdamWOptions{.amsgrad = true}),
      with<Rmsprop>(RmspropOptions{}),
      with<Rmsprop>(RmspropOptions{.momentum = 0.5, .centered = true}),
      with<Adagrad>(AdagradOptions{.lr_decay = 0.1}),
      with<Lion>(LionOptions{.lr = 0.01, .weight_decay = 0.1}),
      sampling<Sgld>(SgldOptions{.lr = 0.01, .target = {.count = 100}}),
      sampling<Psgld>(PsgldOptions{.lr = 0.01, .target = {.count = 100}}),
      sampling<Sghmc>(SghmcOptions{.lr = 0.01, .target = {.count = 100}}),
      sampling<Sgnht>(SgnhtOptions{.lr = 0.01, .target = {.count = 100}})};
  for (const DType dtype : {f32, f64})
    for (const Make& make : makers) {
      TemporaryFolder folder;
      const std::string path = (folder / "state.safetensors").string();
      const Tensor x = leaf(tensor({1, -2, 0.5}, dtype)), idle = leaf(tensor({7}, dtype));
      const auto optimizer = make({x, idle});
      run(*optimizer, x, 0, 7);
      optimizer->set_lr(0.0037);  // beyond step 7 a larger one diverges
      save_safetensors(path, optimizer->state_dict());
      const Tensor y = leaf(x), idle_too = leaf(idle);
      run(*optimizer, x, 7, 20);

      const auto resumed = make({y, idle_too});
      resumed->load_state_dict(load_safetensors(path));
      EXPECT_EQ(resumed->steps(), 7);
      EXPECT_EQ(resumed->lr(), 0.0037);
      run(*resumed, y, 7, 20);
      EXPECT_TRUE(all(isfinite(x)).item<bool>());
      EXPECT_TRUE(same_bits(x, y)) << x << y;
      for (const auto& [name, value] : optimizer->state_dict())
        EXPECT_TRUE(same_bits(value, resumed->state_dict().at(name))) << name;
    }
}

TEST(Optimizer, StateIsACopy) {
  const Tensor x = leaf(tensor({1, -2, 0.5}, f64));
  Adam adam({x});
  run(adam, x, 0, 1);
  const StateDict state = adam.state_dict();
  const Tensor before = clone(state.at("parameter.0.first_moment"));
  run(adam, x, 1, 2);
  EXPECT_TRUE(same_bits(state.at("parameter.0.first_moment"), before));
}

TEST(Optimizer, RefusesAStateThatDoesNotFitAndKeepsItsOwn) {
  const Tensor x = leaf(tensor({1, -2, 0.5}, f64));
  Adam adam({x});
  run(adam, x, 0, 3);
  const StateDict good = adam.state_dict();
  const auto refuse = [&](const std::string& message, const std::function<void(StateDict&)>& edit) {
    StateDict bad = good;
    bad["lr"] = scalar(0.5, f64);
    edit(bad);
    expect_error([&] { adam.load_state_dict(bad); }, message);
    EXPECT_EQ(adam.lr(), 1e-3);
    for (const auto& [name, value] : adam.state_dict())
      EXPECT_TRUE(same_bits(value, good.at(name))) << name;
  };
  refuse("no entry \"lr\"", [](StateDict& s) { s.erase("lr"); });
  refuse("no entry \"parameter.0.second_moment\"",
         [](StateDict& s) { s.erase("parameter.0.second_moment"); });
  refuse("is f64 of shape [2], expected f64 of shape [3]",
         [](StateDict& s) { s["parameter.0.first_moment"] = zeros({2}, f64); });
  refuse("is f32 of shape [3], expected f64",
         [](StateDict& s) { s["parameter.0.first_moment"] = zeros({3}, f32); });
  refuse("it has `1`, not known to this optimizer",
         [](StateDict& s) { s["parameter.1.steps"] = scalar(1, i64); });
  refuse("it lacks `0`", [](StateDict& s) { s.erase("parameter.0.steps"); });
  refuse("entries that this optimizer (1 parameters) does not know: \"more\"",
         [](StateDict& s) { s["more"] = scalar(1, i64); });
  refuse("`0` has shape [4] in the state and [3] here",
         [](StateDict& s) { s["parameter.0.shape"] = tensor({4}, i64); });
  refuse("\"parameter.0.first_moment\" has NaN elements", [](StateDict& s) {
    s["parameter.0.first_moment"] = tensor({1, std::nan(""), 1}, f64);
  });
  refuse("it must be at least 0", [](StateDict& s) { s["steps"] = scalar(-1, i64); });
  refuse("it must be finite", [](StateDict& s) { s["lr"] = scalar(-1, f64); });
}

// A step takes their roots.
TEST(Optimizer, RefusesSquaresBelowZero) {
  Tensor x = parameter(ones({2}));
  const auto refuses = [&](auto optimizer, const std::string& name) {
    x.set_grad(ones({2}));
    optimizer.step();
    const std::string entry = "parameter.x." + name;
    for (const double value : {-1.0, std::nan("")}) {
      StateDict state = optimizer.state_dict();
      ASSERT_TRUE(state.contains(entry));
      state[entry] = tensor({1, value});
      expect_error([&] { optimizer.load_state_dict(state); },
                   "as a sum or mean of squares it must be");
    }
    StateDict state = optimizer.state_dict();
    state[entry] = tensor({0, 2});
    optimizer.load_state_dict(state);
  };
  const ParameterSet set{{"x", x}};
  refuses(Adam(set), "second_moment");
  refuses(AdamW(set, {.amsgrad = true}), "largest_second");
  refuses(Rmsprop(set, {.centered = true}), "second_moment");
  refuses(Adagrad(set), "sum_of_squares");
  refuses(Psgld(set, {.lr = 0.1, .target = {.count = 10}}, Generator(1)), "second_moment");
}

// Of every entry of a state that is floating: NaN would reach the parameter in the next step.
TEST(Optimizer, RefusesNaNInItsState) {
  Tensor x = parameter(ones({2}));
  const auto refuses = [&](auto optimizer, std::size_t moments) {
    x.set_grad(ones({2}));
    optimizer.step();
    std::size_t found = 0;
    for (const auto& [name, value] : optimizer.state_dict()) {
      if (!is_floating(value.dtype())) continue;
      StateDict state = optimizer.state_dict();
      state[name] = full(value.shape(), std::nan(""), value.dtype());
      expect_error([&] { optimizer.load_state_dict(state); }, "");
      found += name.starts_with("parameter.");
    }
    EXPECT_EQ(found, moments);
    optimizer.load_state_dict(optimizer.state_dict());
  };
  const ParameterSet set{{"x", x}};
  refuses(Sgd(set, {.lr = 0.1, .momentum = 0.9}), 1);
  refuses(Adam(set), 2);
  refuses(AdamW(set, {.amsgrad = true}), 3);
  refuses(Lion(set), 1);
  refuses(Adagrad(set), 1);
  refuses(Rmsprop(set, {.momentum = 0.9, .centered = true}), 3);
}

// Version 0.1 saved no shapes; a state that has some has all.
TEST(Optimizer, RefusesAStateWithSomeOfItsShapes) {
  Tensor a = parameter(ones({2})), b = parameter(ones({3}));
  Sgd sgd(ParameterSet{{"a", a}, {"b", b}}, {.lr = 0.1});
  StateDict state = sgd.state_dict();
  state.erase("parameter.b.shape");
  expect_error([&] { sgd.load_state_dict(state); }, "no entry \"parameter.b.shape\"");
}

TEST(Optimizer, LeavesWhatIsFrozen) {
  Generator rng(5);
  Linear layer({.in = 2, .out = 2}, rng);
  const Tensor weight = clone(layer.weight.detach()), bias = clone(layer.bias.detach());
  const auto step = [&] {
    Sgd sgd(layer.parameters(), {.lr = 0.1, .weight_decay = 0.1});
    sgd.zero_grad();
    backward(sum(square(layer(ones({3, 2})))));
    sgd.step();
  };
  auto parameters = layer.named_parameters();
  for (auto& [name, p] : parameters)
    if (name == "weight") p.set_requires_grad(false);
  step();
  EXPECT_FALSE(layer.weight.grad().defined());
  EXPECT_TRUE(all_equal(layer.weight.detach(), weight));
  EXPECT_FALSE(all_equal(layer.bias.detach(), bias));
  for (auto& [name, p] : parameters) p.set_requires_grad(true);
  step();
  EXPECT_FALSE(all_equal(layer.weight.detach(), weight));

  // Frozen between backward() and step().
  Sgd sgd(layer.parameters(), {.lr = 0.1});
  const Tensor before = clone(layer.weight.detach());
  Tensor(layer.weight).set_requires_grad(false);
  sgd.step();
  EXPECT_TRUE(all_equal(layer.weight.detach(), before));
}

TEST(Optimizer, RefusesBadParametersAndSettings) {
  const Tensor x = leaf(tensor({1, 2}, f64));
  expect_error([] { Sgd sgd(std::vector<Tensor>{}); }, "no parameter");
  expect_error([&] { Sgd sgd({x.detach()}); }, "does not require a gradient");
  expect_error([&] { Sgd sgd({x * 2.0}); }, "only leaves");
  expect_error([&] { Sgd sgd({x, x}); }, "parameters 0 and 1 are the same");
  expect_error([&] { Sgd sgd({parameter(transpose(zeros({2, 3})))}); }, "not contiguous");
  expect_error([&] { Sgd sgd({x}, {.lr = -1}); }, "lr is -1");
  expect_error([&] { Sgd sgd({x}, {.momentum = 1}); }, "momentum is 1");
  expect_error([&] { Sgd sgd({x}, {.nesterov = true}); }, "Nesterov needs momentum");
  expect_error([&] { Sgd sgd({x}, {.momentum = 0.9, .dampening = 2}); }, "dampening is 2");
  expect_error([&] { Adam adam({x}, {.beta1 = 1}); }, "beta1 is 1");
  expect_error([&] { Adam adam({x}, {.beta2 = -0.1}); }, "beta2 is -0.1");
  expect_error([&] { Adam adam({x}, {.eps = -1}); }, "eps is -1");
  expect_error([&] { AdamW adam({x}, {.weight_decay = -1}); }, "weight_decay is -1");
  expect_error([&] { Rmsprop r({x}, {.decay = 1}); }, "decay is 1");
  expect_error([&] { Rmsprop r({x}, {.eps = -1}); }, "eps is -1");
  expect_error([&] { Rmsprop r({x}, {.momentum = 1}); }, "momentum is 1");
  expect_error([&] { Adagrad a({x}, {.lr_decay = -1}); }, "lr_decay is -1");
  expect_error([&] { Adagrad a({x}, {.eps = -1}); }, "eps is -1");
  expect_error([&] { Adagrad a({x}, {.initial = -1}); }, "initial is -1");
  expect_error([&] { Lion l({x}, {.beta2 = 1}); }, "beta2 is 1");
  Sgd sgd({x});
  expect_error([&] { sgd.set_lr(std::nan("")); }, "lr is nan");
}

}  // namespace
}  // namespace ladon::test::optimizer_test
