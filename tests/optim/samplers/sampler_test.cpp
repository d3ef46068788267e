// Properties of every sampler that is an optimizer: update rule, noise, resuming, invalid input.

#include "ladon/optim/samplers/sampler.h"

#include <cmath>
#include <memory>

#include "ladon/autograd/graph.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::sampler_test {
namespace {

constexpr TargetDensity target{.count = 20, .prior_precision = 4, .temperature = 1.5};

struct Case {
  std::string name;
  std::function<std::unique_ptr<Sampler>(ParameterGroups, Generator rng)> make;
  std::vector<double> after_five_steps;
  std::unique_ptr<Sampler> operator()(std::vector<Tensor> parameters,
                                      std::uint64_t seed = 11) const {
    return make(std::move(parameters), Generator(seed));
  }
};

template <class S, class Options>
Case sampler(const char* name, Options options, std::vector<double> expected) {
  return {name,
          [=](ParameterGroups groups, Generator rng) {
            return std::make_unique<S>(std::move(groups), options, rng);
          },
          std::move(expected)};
}

// Expected: five steps from (1, −2, ½) by an independent float64 program, with a Philox of its own.
std::vector<Case> samplers() {
  return {
      sampler<Sgld>("sgld", SgldOptions{.lr = 0.1, .target = target},
                    {0.58959372457772907, -2.4634592946777936, 0.7722176903088227}),
      sampler<Psgld>("psgld", PsgldOptions{.lr = 0.1, .beta = 0.8, .eps = 1e-3, .target = target},
                     {-0.047809390715603195, -2.0279384080304697, 0.79994905312564479}),
      sampler<Sghmc>("sghmc", SghmcOptions{.lr = 0.1, .friction = 0.3, .target = target},
                     {0.37223358305779042, -2.5196463118846535, 0.60031280408526844}),
      sampler<Sgnht>("sgnht",
                     SgnhtOptions{.lr = 0.1, .friction = 0.3, .response = 0.05, .target = target},
                     {0.37127518674570748, -2.4766776357959746, 0.58498651350785935})};
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

Tensor start(DType dtype = f64) { return leaf(tensor({1, -2, 0.5}, dtype)); }

TEST(Samplers, FollowTheirRules) {
  for (const Case& make : samplers()) {
    const Tensor x = start();
    const auto optimizer = make({x});
    run(*optimizer, x, 0, 5);
    expect_values(x, make.after_five_steps, 1e-14);
    const StateDict state = optimizer->state_dict();
    const auto friction = state.find("parameter.0.friction");
    EXPECT_EQ(friction != state.end(), make.name == "sgnht");
    if (friction == state.end()) continue;
    EXPECT_NEAR(friction->second.item(), 0.6146165935380342, 1e-14);
  }
}

// In f32 the draws are others (core/random.h), so the noise is taken from the generator: for equal
// gradients the first step of Sgld, and of Sghmc with friction 1, is −r(g + λ/N·θ) + sqrt(2rT/N)·ξ.
TEST(Samplers, TakeTheirNoiseInTheParametersDtype) {
  for (const DType dtype : {f32, f64}) {
    Tensor x = start(dtype), y = start(dtype);
    Generator rng = Generator(11).split(0);
    const Tensor xi = normal({3}, rng, 0, 1, dtype), g = gradient_at(x, 0);
    const Tensor expected =
        x.detach() - 0.1 * (g + 0.2 * x.detach()) + std::sqrt(2 * 0.1 * 1.5 / 20) * xi;
    Sgld sgld({x}, {.lr = 0.1, .target = target}, Generator(11));
    Sghmc sghmc({y}, {.lr = 0.1, .friction = 1, .target = target}, Generator(11));
    run(sgld, x, 0, 1);
    run(sghmc, y, 0, 1);
    const double rounding = dtype == f32 ? 1e-6 : 1e-15;
    EXPECT_TRUE(all_close(x.detach(), expected, 0, rounding)) << x << expected;
    EXPECT_TRUE(all_close(y.detach(), expected, 0, rounding)) << y << expected;
  }
}

TEST(Samplers, WithoutTemperatureAreDescent) {
  for (const DType dtype : {f32, f64}) {
    const double rounding = dtype == f32 ? 1e-6 : 1e-15;
    Tensor x = start(dtype), plain = start(dtype), y = start(dtype), heavy = start(dtype);
    Sgld sgld({x}, {.lr = 0.1, .target = target}, Generator(11));
    Sgd sgd({plain}, {.lr = 0.1, .weight_decay = 0.2});
    Sghmc sghmc({y}, {.lr = 0.1, .friction = 0.3, .target = target}, Generator(11));
    Sgd momentum({heavy}, {.lr = 0.1, .momentum = 0.7, .weight_decay = 0.2});
    sgld.set_temperature(0);
    sghmc.set_temperature(0);
    run(sgld, x, 0, 9);
    run(sgd, plain, 0, 9);
    run(sghmc, y, 0, 9);
    run(momentum, heavy, 0, 9);
    EXPECT_TRUE(all_close(x.detach(), plain.detach(), 0, rounding)) << x << plain;
    EXPECT_TRUE(all_close(y.detach(), heavy.detach(), 0, 4 * rounding)) << y << heavy;
  }
}

// The thermostat has nothing to measure by at T = 0 or at a rate of 0.
TEST(Samplers, ColdThermostatRests) {
  for (const bool cold : {false, true}) {
    const Tensor x = start();
    Sgnht sgnht({x}, {.lr = 0.1, .friction = 0.3}, Generator(1));
    if (cold)
      sgnht.set_temperature(0);
    else
      sgnht.set_lr(0);
    run(sgnht, x, 0, 3);
    EXPECT_EQ(sgnht.state_dict().at("parameter.0.friction").item(), 0.3);
  }
}

// Noise follows from a parameter's own updates: of what else is trained, and when, it knows
// nothing.
TEST(Samplers, DrawForEachParameterApart) {
  for (const Case& make : samplers()) {
    Tensor x = start(), y = start(), alone = start(), other = start();
    const auto both = make({x, y}), one = make({other, alone});
    for (int t = 0; t < 6; ++t) {
      both->zero_grad();
      if (t % 2 == 0) x.set_grad(gradient_at(x, t));
      y.set_grad(gradient_at(y, t));
      both->step();
      alone.set_grad(gradient_at(alone, t));
      one->step();
    }
    EXPECT_TRUE(same_bits(y, alone)) << make.name;
    EXPECT_TRUE(same_bits(other, start())) << make.name;
    EXPECT_FALSE(same_bits(x, y)) << make.name;
  }
}

TEST(Samplers, UpdateAlikeAtAnyNumberOfThreads) {
  const int before = num_threads();
  for (const Case& make : samplers())
    for (const DType dtype : {f32, f64}) {
      std::vector<Tensor> results;
      for (const int threads : {1, 2}) {
        set_num_threads(threads);
        Generator rng(1);
        Tensor x = leaf(normal({40, 1001}, rng, 0, 1, dtype));
        const auto optimizer = make({x});
        for (int t = 0; t < 3; ++t) {
          x.set_grad(clone(x.detach()));
          optimizer->step();
        }
        results.push_back(x);
      }
      EXPECT_TRUE(same_bits(results[0], results[1])) << make.name;
    }
  set_num_threads(before);
}

TEST(Samplers, ResumeWithTheirTemperature) {
  for (const Case& make : samplers()) {
    const Tensor x = start();
    const auto optimizer = make({x});
    run(*optimizer, x, 0, 4);
    optimizer->set_temperature(0.25);
    const StateDict state = optimizer->state_dict();
    const Tensor y = leaf(x);
    run(*optimizer, x, 4, 9);
    const auto resumed = make({y}, 12);
    resumed->load_state_dict(state);
    EXPECT_EQ(resumed->temperature(), 0.25);
    run(*resumed, y, 4, 9);
    EXPECT_TRUE(same_bits(x, y)) << make.name;
  }
}

// As states were before they had one.
TEST(Samplers, KeepTheirGeneratorWhereAStateHasNone) {
  const Case make = samplers()[0];
  const Tensor x = start(), y = start();
  const auto one = make({x}), same = make({y});
  StateDict state = one->state_dict();
  state.erase("generator");
  same->load_state_dict(state);
  run(*one, x, 0, 3);
  run(*same, y, 0, 3);
  EXPECT_TRUE(same_bits(x, y));
}

TEST(Samplers, RefuseTheStateOfAnother) {
  for (const Case& from : samplers())
    for (const Case& to : samplers()) {
      if (from.name == to.name) continue;
      const Tensor x = start(), y = start();
      const auto one = from({x}), other = to({y});
      run(*one, x, 0, 1);
      expect_error([&] { other->load_state_dict(one->state_dict()); }, "[load_state_dict]");
    }
}

TEST(Samplers, RefuseAStateThatDoesNotFitAndKeepTheirOwn) {
  const Tensor x = start();
  const auto sgnht = samplers()[3]({x});
  run(*sgnht, x, 0, 3);
  const StateDict good = sgnht->state_dict();
  const auto refuse = [&](const std::string& message, const std::function<void(StateDict&)>& edit) {
    StateDict bad = good;
    bad["lr"] = scalar(0.5, f64);
    edit(bad);
    expect_error([&] { sgnht->load_state_dict(bad); }, message);
    EXPECT_EQ(sgnht->temperature(), 1.5);
    for (const auto& [name, value] : sgnht->state_dict())
      EXPECT_TRUE(same_bits(value, good.at(name))) << name;
  };
  refuse("no entry \"temperature\"", [](StateDict& s) { s.erase("temperature"); });
  refuse("expected f64 of shape []", [](StateDict& s) { s["temperature"] = scalar(1, f32); });
  refuse("temperature is -1", [](StateDict& s) { s["temperature"] = scalar(-1, f64); });
  refuse("expected i64 of shape [3]", [](StateDict& s) { s["generator"] = zeros({2}, i64); });
  refuse("no entry \"parameter.0.velocity\"", [](StateDict& s) {
    s["temperature"] = scalar(7, f64);
    s.erase("parameter.0.velocity");
  });
  refuse("expected f64 of shape []",
         [](StateDict& s) { s["parameter.0.friction"] = zeros({3}, f64); });
  refuse("does not know: \"seed\"", [](StateDict& s) { s["seed"] = scalar(1, i64); });
}

TEST(Samplers, RefuseGradientsThatAreNotFinite) {
  for (const Case& make : samplers())
    for (const DType dtype : {f32, f64})
      for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        Tensor x = start(dtype), y = start(dtype);
        const auto optimizer = make({x, y});
        run(*optimizer, x, 0, 2);
        const StateDict state = optimizer->state_dict();
        const Tensor before = clone(x.detach());
        y.set_grad(tensor({1, bad, 2}, dtype));
        expect_error([&] { optimizer->step(); }, "the gradient of parameter 1 (" +
                                                     std::string(to_string(dtype)) +
                                                     " [3]) is not finite");
        EXPECT_TRUE(same_bits(x, before));
        EXPECT_TRUE(same_bits(y, start(dtype)));
        EXPECT_EQ(optimizer->steps(), 2);
        for (const auto& [name, value] : optimizer->state_dict())
          EXPECT_TRUE(same_bits(value, state.at(name))) << name;
        y.set_grad(tensor({1, 1, 2}, dtype));
        optimizer->step();
        EXPECT_FALSE(same_bits(x, before));
      }
}

// Finite gradients whose sum is not: they are taken.
TEST(Samplers, TakeLargeGradients) {
  Tensor x = leaf(zeros({2}, f32));
  Sgld sgld({x}, {.lr = 1e-38}, Generator(1));
  x.set_grad(full({2}, 3e38, f32));
  sgld.step();
  EXPECT_NEAR(x.to_vector()[0], -3, 1e-5);
}

TEST(Samplers, TreatWrongCallsAsEveryOptimizer) {
  for (const Case& make : samplers()) {
    const Tensor x = start();
    const auto optimizer = make({x});
    expect_error([&] { optimizer->step(); }, "none of the 1 parameters has a gradient");
    EXPECT_EQ(optimizer->steps(), 0);
    backward(sum(x));
    backward(sum(x));  // without zero_grad() gradients add up
    EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{2, 2, 2}));
    optimizer->zero_grad();
    EXPECT_FALSE(x.grad().defined());
    // A group's rate scales its step and its noise: at 0 nothing moves.
    const Tensor still = start(), moved = start();
    const auto groups =
        make.make({{.parameters = {still}, .lr_scale = 0}, {.parameters = {moved}}}, Generator(11));
    for (Tensor p : {still, moved}) p.set_grad(gradient_at(p, 0));
    groups->step();
    EXPECT_TRUE(same_bits(still, start())) << make.name;
    EXPECT_FALSE(same_bits(moved, start())) << make.name;
  }
}

TEST(Samplers, RefuseBadSettings) {
  const std::vector<Tensor> x = {start()};
  const Generator rng(1);
  expect_error([&] { Sgld s(std::vector<Tensor>{}, {}, rng); }, "no parameter");
  expect_error([&] { Sgld s(x, {.lr = -1}, rng); }, "lr is -1");
  expect_error([&] { Sgld s(x, {.target = {.count = 0}}, rng); }, "N is 0");
  expect_error([&] { Sgld s(x, {.target = {.prior_precision = -1}}, rng); }, "precision is -1");
  expect_error([&] { Sgld s(x, {.target = {.temperature = std::nan("")}}, rng); },
               "temperature is nan");
  expect_error([&] { Psgld s(x, {.beta = 1}, rng); }, "beta is 1");
  expect_error([&] { Psgld s(x, {.eps = 0}, rng); }, "eps is 0");
  expect_error([&] { Psgld s(x, {.eps = HUGE_VAL}, rng); }, "eps is inf");
  expect_error([&] { Sghmc s(x, {.friction = 0}, rng); }, "[sghmc] friction is 0");
  expect_error([&] { Sgnht s(x, {.friction = 1.5}, rng); }, "[sgnht] friction is 1.5");
  expect_error([&] { Sgnht s(x, {.friction = std::nan("")}, rng); }, "friction is nan");
  expect_error([&] { Sgnht s(x, {.response = 0}, rng); }, "response is 0");
  expect_error(
      [&] { Sgld s(std::vector<ParameterGroup>{{.parameters = x, .weight_decay = 0}}, {}, rng); },
      "a sampler's prior is in its target (TargetDensity::prior_precision)");
  Sgld sgld(x, {}, rng);
  expect_error([&] { sgld.set_temperature(-1); }, "temperature is -1");
  expect_error([&] { sgld.set_temperature(HUGE_VAL); }, "temperature is inf");
  EXPECT_EQ(sgld.temperature(), 1);
  EXPECT_EQ(Sgld(x, {.target = {.temperature = 0}}, rng).temperature(), 0);
  expect_error([&] { Sgld s(x, {.target = {.temperature = -1}}, rng); }, "temperature is -1");
}

// Svgd without repulsion and sharing gives one particle its own gradient: the sampler behind it
// draws as if it were not there. With several, its drift is what Sgd would follow.
TEST(Samplers, FollowAParticleMethod) {
  for (const Case& make : samplers()) {
    const Tensor x = leaf(tensor({1, -2, 0.5}, {1, 3}, f64)), y = leaf(x);
    Svgd svgd(particles_of_rows(x), {.alpha = 0, .smoothing = false});
    const auto behind = make({x}), alone = make({y});
    for (int t = 0; t < 5; ++t) {
      behind->zero_grad();
      alone->zero_grad();
      backward(sum(square(square(x))));
      backward(sum(square(square(y))));
      svgd.apply();
      behind->step();
      alone->step();
    }
    EXPECT_TRUE(same_bits(x, y)) << make.name;
  }
  Generator rng(2);
  Tensor x = leaf(normal({5, 3}, rng, 0, 1, f64)), y = leaf(x);
  Svgd drift(particles_of_rows(x), {.alpha = 0.5}), same(particles_of_rows(y), {.alpha = 0.5});
  Sgld sgld({x}, {.lr = 0.1}, Generator(3));
  Sgd sgd({y}, {.lr = 0.1});
  x.set_grad(clone(x.detach()));
  y.set_grad(clone(y.detach()));
  drift.apply();
  same.apply();
  sgld.step();
  sgd.step();
  Generator noise = Generator(3).split(0);
  const Tensor xi = normal({5, 3}, noise, 0, 1, f64);
  EXPECT_TRUE(all_close(x.detach(), y.detach() + std::sqrt(0.2) * xi, 0, 1e-14));
}

TEST(Samplers, RefuseASecondNoiseOrPriorAndChangeNothing) {
  for (const Case& make : samplers()) {
    Tensor x = leaf(tensor({1, -2, 0.5}, {1, 3}, f64));
    const auto sampler = make({x});  // T > 0, λ > 0
    Spos spos(particles_of_rows(x), {}, Generator(1));
    Svgd svgd(particles_of_rows(x), {.target = {.prior_precision = 1}});
    const Tensor before = clone(x.detach());
    const auto refuse = [&](ParticleMethod& method, const std::string& message) {
      x.set_grad(ones({1, 3}, f64));
      method.apply();
      expect_error([&] { sampler->step(); }, message);
      EXPECT_TRUE(same_bits(x, before)) << make.name;
      EXPECT_EQ(sampler->steps(), 0);
    };
    refuse(spos, "spos adds its own noise to parameter 0");
    spos.diffuse(0);
    refuse(svgd, "parameter 0 already has the prior of svgd, and the sampler would add its prior");
    sampler->set_temperature(0);  // the noise of one of the two
    x.set_grad(ones({1, 3}, f64));
    spos.apply();
    sampler->step();
  }
}

}  // namespace
}  // namespace ladon::test::sampler_test
