// Noise of a particle method that samples (SPOS): it is added exactly once, by the optimizer's step
// or by hand, and forgetting it is an Error.

#include <cmath>
#include <memory>

#include "ladon/autograd/leaf.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::noise_test {
namespace {

Tensor random_rows(std::int64_t m, std::int64_t d, std::uint64_t seed, DType dtype = f64) {
  Generator rng(seed);
  return normal({m, d}, rng, 0, 1, dtype);
}

constexpr double b = 0.3;

/// Spos on rows [3, 5] with a gradient.
struct Rows {
  Tensor x = leaf(random_rows(3, 5, 1));
  Spos spos{particles_of_rows(x), {.diffusion = b}, Generator(7)};

  void apply() {
    x.set_grad(random_rows(3, 5, 2));
    spos.apply();
  }
};

/// One step with the optimizers of `make`: the noise is what was drawn, block by block, times
/// sqrt(2bε), added after an update that knows nothing of it.
void expect_noise(const Particles& blocks, const SposOptions& options, double epsilon,
                  const std::function<std::unique_ptr<Optimizer>(std::vector<Tensor>)>& make) {
  std::vector<Tensor> parameters, twins;
  Generator rng(3);
  for (const ParticleBlock& block : blocks) {
    block.set_gradients(normal({block.count(), block.dim()}, rng));
    for (const Tensor& x : block.parameters()) parameters.push_back(x);
  }
  Spos spos(blocks, options, Generator(7));
  spos.apply();
  for (const Tensor& x : parameters) {
    twins.push_back(leaf(x));
    twins.back().set_grad(clone(x.grad()));
  }
  make(parameters)->step();
  make(twins)->step();
  Generator same(7);
  std::size_t i = 0;
  for (const ParticleBlock& block : blocks) {
    const Tensor noise = normal({block.count(), block.dim()}, same, 0,
                                std::sqrt(2 * options.diffusion * epsilon), block.dtype());
    for (const Tensor& piece : block.pieces(noise)) {
      EXPECT_TRUE(same_bits(parameters[i].detach(), twins[i].detach() + piece)) << block.name();
      ++i;
    }
  }
  EXPECT_EQ(spos.generator().position(), same.position());
}

TEST(Noise, OfAStepIsAddedAfterItsUpdate) {
  for (const DType dtype : {f32, f64}) {
    Generator rng(1);
    MultiHeadAttention attention({.dim = 8, .heads = 4, .key_dim = 6}, rng);
    attention.to(dtype);
    std::vector<Linear> models;
    for (int i = 0; i < 3; ++i) models.emplace_back(LinearOptions{.in = 3, .out = 2}, rng);
    for (Linear& model : models) model.to(dtype);
    const SposOptions options{.diffusion = b},
        scaled{.svgd = {.target = {.count = 100}}, .diffusion = b};
    for (const Particles& blocks :
         {particles(attention), particles(attention, {.space = HeadSpace::joint}),
          particles({&models[0], &models[1], &models[2]})}) {
      expect_noise(blocks, options, 0.1, [](std::vector<Tensor> p) {
        return std::make_unique<Sgd>(std::move(p), SgdOptions{.lr = 0.1});
      });
      expect_noise(blocks, scaled, 0.02 * 0.01, [](std::vector<Tensor> p) {
        return std::make_unique<AdamW>(std::move(p), AdamWOptions{.lr = 0.02});
      });
      expect_noise(blocks, options, 0.1 * 0.5, [](std::vector<Tensor> p) {
        return std::make_unique<Sgd>(
            std::vector<ParameterGroup>{{.parameters = std::move(p), .lr_scale = 0.5}},
            SgdOptions{.lr = 0.1});
      });
    }
  }
}

TEST(Noise, IsAddedOnceByAStep) {
  Rows rows;
  rows.apply();
  Tensor twin = leaf(rows.x);
  twin.set_grad(clone(rows.x.grad()));
  Sgd sgd({rows.x}, {.lr = 0.1}), plain({twin}, {.lr = 0.1});
  sgd.step();
  plain.step();
  const Tensor noise = rows.x.detach() - twin.detach();
  EXPECT_GT(norm(noise).item(), 0.1);
  expect_error([&] { rows.spos.diffuse(0.1); }, "was already added");
  sgd.step();  // by the same gradient once more
  plain.step();
  EXPECT_TRUE(all_close(rows.x.detach() - twin.detach(), noise, 0, 1e-15));
  rows.apply();
}

TEST(Noise, IsAddedOnceByHand) {
  Rows rows;
  expect_error([&] { rows.spos.diffuse(0.1); }, "call apply() first");
  rows.apply();
  const Tensor before = clone(rows.x.detach());
  rows.spos.diffuse(0.1);
  Generator same(7);
  EXPECT_TRUE(
      same_bits(rows.x.detach(), before + normal({3, 5}, same, 0, std::sqrt(2 * b * 0.1), f64)));
  expect_error([&] { rows.spos.diffuse(0.1); }, "was already added");
  const Tensor after = clone(rows.x.detach());
  Sgd still({rows.x}, {.lr = 0});
  still.step();
  EXPECT_TRUE(same_bits(rows.x.detach(), after));
  rows.apply();
}

// A step by hand is of U/T as one of an optimizer is: its noise is that of ε = rate·T/N.
TEST(Noise, ByHandCountsTheTemperature) {
  Tensor x = leaf(random_rows(3, 5, 1));
  Spos spos(particles_of_rows(x),
            {.svgd = {.target = {.count = 8, .temperature = 4}}, .diffusion = b}, Generator(7));
  x.set_grad(random_rows(3, 5, 2));
  spos.apply();
  const Tensor before = clone(x.detach());
  spos.diffuse(0.1);
  Generator same(7);
  EXPECT_TRUE(
      same_bits(x.detach(), before + normal({3, 5}, same, 0, std::sqrt(2 * b * 0.05), f64)));
}

TEST(Noise, ThatWasNotAddedIsAnErrorOfTheNextApply) {
  Rows rows;
  rows.apply();
  const std::uint64_t drawn = rows.spos.generator().position();
  expect_error([&] { rows.apply(); }, "noise of the last apply() was not added to block \"rows\"");
  EXPECT_TRUE(same_bits(rows.x.grad(), random_rows(3, 5, 2)));
  EXPECT_EQ(rows.spos.generator().position(), drawn);
  const Tensor before = clone(rows.x.detach());
  rows.spos.diffuse(0);  // the step was skipped
  EXPECT_TRUE(same_bits(rows.x.detach(), before));
  rows.apply();
}

TEST(Noise, IsMissedWhereTheOptimizerDoesNotHoldAllParticles) {
  Generator rng(1);
  MultiHeadAttention attention({.dim = 4, .heads = 2}, rng);
  const Particles heads = particles(attention);
  Spos spos(heads, {}, rng.split(1));
  Sgd sgd({attention.query, attention.key});
  const auto gradients = [&] {
    attention.zero_grad();
    for (const ParticleBlock& block : heads)
      block.set_gradients(ones({block.count(), block.dim()}));
  };
  gradients();
  spos.apply();
  sgd.step();
  gradients();
  expect_error([&] { spos.apply(); }, "was not added to block \"value\"");
  spos.diffuse(0.01);  // to the values alone: the others have theirs
  spos.apply();
}

TEST(Noise, OutlivesItsMethodAndHoldsNoLeaf) {
  Tensor x = leaf(random_rows(3, 5, 1));
  const std::weak_ptr<detail::Node> node = x.history();
  const auto apply = [&] {
    x.set_grad(zeros({3, 5}, f64));
    Spos spos(particles_of_rows(x), {.svgd = {.alpha = 0}, .diffusion = b}, Generator(7));
    spos.apply();
  };
  apply();
  const Tensor before = clone(x.detach());
  {
    Sgd sgd({x}, {.lr = 0.1});
    sgd.step();
  }
  EXPECT_FALSE(same_bits(x.detach(), before));
  apply();
  x = Tensor();
  EXPECT_TRUE(node.expired());
}

/// A method whose noise is the given one.
struct Given : ParticleMethod {
  Given(Particles particles, Tensor given)
      : ParticleMethod(std::move(particles)), unit(std::move(given)) {}
  std::string name() const override { return "given"; }
  Forces forces(const std::string&, const Tensor&, const Tensor& gradient) const override {
    return {.driving = gradient};
  }
  Noise noise(const ParticleBlock&) override { return {.unit = unit, .diffusion = 1}; }
  bool has_noise() const override { return true; }
  Tensor unit;
};

TEST(Noise, ThatIsNotFiniteIsRefusedBeforeAGradientChanges) {
  for (const double odd : {double(NAN), HUGE_VAL, -HUGE_VAL}) {
    Tensor x = leaf(random_rows(3, 5, 1)), unit = random_rows(3, 5, 4);
    fill_(slice(unit, 1, {.start = 4}), odd);
    x.set_grad(random_rows(3, 5, 2));
    Given method(particles_of_rows(x), unit);
    expect_error([&] { method.apply(); },
                 "the noise that given returns for block \"rows\" holds NaN or ∞");
    EXPECT_TRUE(same_bits(x.grad(), random_rows(3, 5, 2)));
    method.unit = random_rows(3, 5, 4);
    EXPECT_NO_THROW(method.apply());
  }
}

TEST(Noise, MethodsWithoutItIgnoreDiffuse) {
  Tensor x = leaf(random_rows(3, 5, 1));
  x.set_grad(random_rows(3, 5, 2));
  Svgd svgd(particles_of_rows(x));
  expect_error([&] { svgd.diffuse(0.1); }, "call apply() first");
  svgd.apply();
  const Tensor before = clone(x.detach());
  svgd.diffuse(0.1);
  svgd.diffuse(0.1);
  EXPECT_TRUE(same_bits(x.detach(), before));
}

}  // namespace
}  // namespace ladon::test::noise_test
