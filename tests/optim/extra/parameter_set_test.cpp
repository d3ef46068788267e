// Sets of parameters as arguments of optimizers, averages, samplers and particle methods.

#include "ladon/layers/parameter_set.h"

#include <gtest/gtest.h>

#include "ladon/autograd/graph.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/optim.h"
#include "ladon/tests/optim/helpers.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::test::parameter_set_test {
namespace {

TransformerEncoder encoder(std::uint64_t seed) {
  Generator rng(seed);
  TransformerEncoder model({.layer = {.dim = 8, .heads = 2, .dropout = 0}, .layers = 2}, rng);
  model.to(f64);
  return model;
}

TEST(ParameterSet, WhatIsFrozenHasNoGradientAndStays) {
  TransformerEncoder model = encoder(1);
  const ParameterSet frozen = model.choose("layers.0.*"), free = model.choose("layers.1.*");
  frozen.freeze();
  EXPECT_EQ(ParameterSet(model).trained().size(), model.parameters().size() - frozen.size());
  const Tensor before = frozen.to_row(), moving = free.to_row();
  Adam adam(model.parameters(), {.lr = 0.1});
  Generator rng(2);
  backward(sum(square(model(normal({2, 3, 8}, rng, 0, 1, f64)))));
  for (const auto& [name, x] : frozen) EXPECT_FALSE(x.grad().defined()) << name;
  adam.step();
  EXPECT_TRUE(same_bits(frozen.to_row(), before));
  EXPECT_FALSE(all_equal(free.to_row(), moving));
  frozen.thaw();
  backward(sum(square(model(normal({2, 3, 8}, rng, 0, 1, f64)))));
  for (const auto& [name, x] : frozen) EXPECT_TRUE(x.grad().defined()) << name;
}

TEST(ParameterSet, IsWhatSamplersMove) {
  Generator rng(1);
  Sequential model(Linear({.in = 2, .out = 3}, rng), Activation(Nonlinearity::tanh),
                   Linear({.in = 3, .out = 1}, rng));
  model.to(f64);
  model.eval();
  const Tensor x = normal({5, 2}, rng, 0, 1, f64), y = normal({5, 1}, rng, 0, 1, f64);
  const ParameterSet head = model.choose("layers.2.*");
  const Tensor before = ParameterSet(model).to_row();
  const LogDensity p = log_posterior(head, [&] { return mse_loss(model(x), y); },
                                     {.count = 5, .prior_precision = 2});
  EXPECT_EQ(p.dim(), 4);
  // The features stand still, so that the density is that of linear regression on them.
  const Tensor h = tanh(linear(x, model.parameters()[0].detach(), model.parameters()[1].detach()));
  const LogDensity formula(4, [&](const Tensor& theta) {
    const Tensor f =
        matmul(slice(theta, 1, {.stop = 3}), transpose(h)) + slice(theta, 1, {.start = 3});
    return -sum(square(f - transpose(y)), 1) - sum(square(theta), 1);
  });
  const Tensor theta = normal({3, 4}, rng, 0, 1, f64);
  expect_near(p.score(theta).value, formula.score(theta).value, 1e-12);
  expect_near(p.score(theta).gradient, formula.score(theta).gradient, 1e-12);
  EXPECT_TRUE(same_bits(ParameterSet(model).to_row(), before));
}

TEST(ParameterSet, IsWhatParticlesAre) {
  TransformerEncoder a = encoder(1), b = encoder(2);
  const Particles heads = particles_of_rows(a.choose("*.attention.output"));
  ASSERT_EQ(heads.size(), 2u);
  EXPECT_EQ(heads[0].name(), "layers.0.attention.output");
  EXPECT_EQ(heads[0].count(), 2);
  const Particles parts = particles_of_members({a.choose("layers.1.*"), b.choose("layers.1.*")});
  EXPECT_EQ(parts[0].count(), 2);
  EXPECT_EQ(parts[0].dim(), a.choose("layers.1.*").count());
}

TEST(ParameterSet, IsWhatAnAverageKeeps) {
  TransformerEncoder model = encoder(1), copy = encoder(2);
  WeightAverage average(model.choose("final_norm.*"), {.decay = 1});
  average.update();
  model.choose("final_norm.*").assign_row(zeros({16}));
  average.update();
  average.copy_to(copy.choose("final_norm.*"));
  const Tensor half = concat({0.5 * ones({8}, f64), zeros({8}, f64)}, 0);
  EXPECT_TRUE(all_close(copy.choose("final_norm.*").to_row(), half, 1e-12, 1e-12));
}

TEST(ParameterSet, NamesParametersInAnOptimizersErrors) {
  TransformerEncoder model = encoder(1);
  ParameterSet twice = model.choose("*.query");
  twice.push_back(twice[0]);
  expect_error([&] { Adam adam(twice, {}); },
               "parameters layers.0.attention.query and layers.0.attention.query are the same");
}

// Half of a model: what is frozen stays, for methods that take all gradients at once, too.
TEST(ParameterSet, HalfFrozenIsTakenByAll) {
  Generator rng(1);
  Sequential model(Linear({.in = 2, .out = 3}, rng), Activation(Nonlinearity::tanh),
                   Linear({.in = 3, .out = 1}, rng));
  model.to(f64);
  model.eval();
  const Tensor x = normal({5, 2}, rng, 0, 1, f64), y = normal({5, 1}, rng, 0, 1, f64);
  const auto loss = [&] { return mse_loss(model(x), y); };
  backward(loss());
  const ParameterSet frozen = model.choose("layers.0.*");
  frozen.freeze();
  const Tensor before = frozen.to_row();
  const double norm = clip_grad_norm(model.choose("layers.2.*"), 1e-3);
  EXPECT_GT(norm, 1e-3);
  EXPECT_NEAR(clip_grad_norm(model, 1), 1e-3, 1e-12);
  Lbfgs lbfgs(model);
  const double first = loss().item();
  EXPECT_LT(lbfgs.step(loss), first);
  EXPECT_TRUE(same_bits(frozen.to_row(), before));
  const LogDensity p = log_posterior(model, loss);
  const Tensor row = unsqueeze(ParameterSet(model).to_row(), 0);
  // Without a prior there is no slope where the model is frozen, and the loss's elsewhere.
  const Tensor slope = squeeze(p.score(row).gradient, 0);
  const ParameterSet head = model.choose("layers.2.*");
  EXPECT_TRUE(all_equal(slice(slope, 0, {.stop = 9}), zeros({9}, f64)));
  expect_near(slice(slope, 0, {.start = 9}), -head.to_row(grad({loss()}, head.tensors())), 1e-12);
  model.freeze();
  AdamW adam(model, {});
  expect_error([&] { adam.step(); }, "has a gradient");
}

}  // namespace
}  // namespace ladon::test::parameter_set_test
