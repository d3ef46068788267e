#include "ladon/optim/optimizer.h"

#include <cmath>
#include <memory>

#include "ladon/autograd/graph.h"
#include "ladon/core/io/safetensors.h"
#include "ladon/layers/linear.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test {
namespace {

using Make = std::function<std::unique_ptr<Optimizer>(std::vector<Tensor>)>;

template <class O, class Options>
Make with(Options options) {
  return [options](std::vector<Tensor> p) { return std::make_unique<O>(std::move(p), options); };
}

template <class O, class Options>
Make sampling(Options options) {
  return [options](std::vector<Tensor> p) {
    return std::make_unique<O>(std::move(p), options, Generator(3));
  };
}

// The gradient of step t at x: c_t·(0.3, −0.7, 1.1) + 0.1·(t + 1)·x², c_t = 1, −½, 1, …
Tensor gradient_at(const Tensor& x, int t) {
  const Tensor base = tensor({0.3, -0.7, 1.1}, f64) * (t % 2 == 0 ? 1 : -0.5);
  return cast(base + square(cast(x.detach(), f64)) * (0.1 * (t + 1)), x.dtype());
}

void run(Optimizer& optimizer, Tensor x, int from, int to) {
  for (int t = from; t < to; ++t) {
    x.set_grad(gradient_at(x, t));
    optimizer.step();
  }
}

// Expected: five steps from (1, −2, ½) by an independent float64 program.
void expect_after_five_steps(const Make& make, const std::vector<double>& expected) {
  const Tensor x = leaf(tensor({1, -2, 0.5}, f64));
  run(*make({x}), x, 0, 5);
  expect_values(x, expected, 1e-14);
  const Tensor single = leaf(tensor({1, -2, 0.5}, f32));
  run(*make({single}), single, 0, 5);
  expect_values(single, expected, 3e-6);
}

TEST(Sgd, FollowsItsRule) {
  expect_after_five_steps(with<Sgd>(SgdOptions{.lr = 0.1}),
                          {0.81290397747523901, -2.5701978824684564, 0.25749790866858546});
  expect_after_five_steps(with<Sgd>(SgdOptions{.lr = 0.1, .weight_decay = 0.05}),
                          {0.79286939919846744, -2.4973361405746521, 0.24808842973316705});
}

TEST(Sgd, HasMomentumWithDampeningAndNesterov) {
  expect_after_five_steps(with<Sgd>(SgdOptions{.lr = 0.1, .momentum = 0.9}),
                          {0.59334961589520729, -3.1008204715819181, -0.097683880240647808});
  expect_after_five_steps(
      with<Sgd>(SgdOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.05, .dampening = 0.3}),
      {0.61931849338390366, -2.5336314420842592, -0.074862240292644155});
  expect_after_five_steps(
      with<Sgd>(SgdOptions{.lr = 0.1, .momentum = 0.9, .nesterov = true, .weight_decay = 0.05}),
      {0.44287280682972358, -3.5425992747193047, -0.27806973084900699});
}

TEST(Adam, FollowsItsRule) {
  expect_after_five_steps(with<Adam>(AdamOptions{.lr = 0.1}),
                          {0.58996539008971693, -2.1755479687191572, 0.2286670567509651});
  expect_after_five_steps(
      with<Adam>(
          AdamOptions{.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.05}),
      {0.57589231894974469, -2.1685089656316925, 0.23049067850877802});
}

TEST(AdamW, DecouplesWeightDecay) {
  expect_after_five_steps(with<AdamW>(AdamWOptions{.lr = 0.1}),
                          {0.5861494217170693, -2.1652875506729976, 0.22685931693016831});
  expect_after_five_steps(
      with<AdamW>(
          AdamWOptions{.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.5}),
      {0.42434068287833238, -1.722035718766372, 0.15549452014955534});
}

// The first step of Adam is lr·sign(g), whatever the scale of g.
TEST(Adam, BeginsWithTheSignOfTheGradient) {
  Tensor x = leaf(tensor({1, 1, 1}, f64));
  x.set_grad(tensor({1e-3, -5, 1e4}, f64));
  Adam adam({x}, {.lr = 0.25, .eps = 0});
  adam.step();
  expect_values(x, {0.75, 1.25, 0.75}, 1e-15);
}

TEST(Optimizer, UpdatesLongParametersAlikeEverywhere) {
  const std::int64_t n = 100003;
  for (const DType dtype : {f32, f64}) {
    Generator rng(1);
    const Tensor start = normal({n}, rng, 0, 1, dtype), g = normal({n}, rng, 0, 1, dtype);
    Tensor all = leaf(start), last = leaf(slice(start, 0, {.start = n - 1}));
    Adam adam({all, last}, {.lr = 0.1});
    for (int t = 0; t < 3; ++t) {
      all.set_grad(clone(g));
      last.set_grad(clone(slice(g, 0, {.start = n - 1})));
      adam.step();
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
                 "call backward() on a loss of them, after zero_grad()");
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
               "a parameter of shape [2, 3] (f32) was replaced by "
               "Module::to(f64) after it was taken");
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

TEST(Optimizer, ResumesBitForBitFromAFile) {
  const std::vector<Make> makers = {
      with<Sgd>(SgdOptions{.lr = 0.1, .momentum = 0.9, .nesterov = true}),
      with<Sgd>(SgdOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5}),
      with<Sgd>(SgdOptions{}),
      with<Adam>(AdamOptions{.lr = 0.1, .weight_decay = 0.1}),
      with<AdamW>(AdamWOptions{}),
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
  refuse("no \"lr\"", [](StateDict& s) { s.erase("lr"); });
  refuse("no \"parameter.0.second_moment\"",
         [](StateDict& s) { s.erase("parameter.0.second_moment"); });
  refuse("is f64 of shape [2], expected f64 of shape [3]",
         [](StateDict& s) { s["parameter.0.first_moment"] = zeros({2}, f64); });
  refuse("is f32 of shape [3], expected f64",
         [](StateDict& s) { s["parameter.0.first_moment"] = zeros({3}, f32); });
  refuse("has 6 entries, of which this optimizer (1 parameters) knows 5",
         [](StateDict& s) { s["parameter.1.steps"] = scalar(1, i64); });
  refuse("it must be at least 0", [](StateDict& s) { s["steps"] = scalar(-1, i64); });
  refuse("it must be finite", [](StateDict& s) { s["lr"] = scalar(-1, f64); });
}

TEST(Optimizer, RefusesBadParametersAndSettings) {
  const Tensor x = leaf(tensor({1, 2}, f64));
  expect_error([] { Sgd sgd(std::vector<Tensor>{}); }, "no parameter");
  expect_error([&] { Sgd sgd({x.detach()}); }, "requires no gradient");
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
  Sgd sgd({x});
  expect_error([&] { sgd.set_lr(std::nan("")); }, "lr is nan");
}

}  // namespace
}  // namespace ladon::test
