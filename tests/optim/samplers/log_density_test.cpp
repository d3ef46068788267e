// Log densities defined by a formula, and by a model with its loss and prior.

#include "ladon/optim/samplers/log_density.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/layers/linear.h"
#include "ladon/tests/optim/helpers.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::test::log_density_test {
namespace {

TEST(LogDensity, ScoresEveryRowByItself) {
  const LogDensity p(2, [](const Tensor& x) { return -sum(square(square(x)), 1); });
  const DensityScore score = p.score(tensor({1, 2, -1, 0.5}, {2, 2}, f32));
  expect_values(score.value, {-17, -1.0625}, 1e-12);
  expect_values(score.gradient, {-4, -32, 4, -0.5}, 1e-12);
  EXPECT_EQ(score.value.dtype(), f64);
  EXPECT_FALSE(score.gradient.requires_grad());
}

TEST(LogDensity, RefusesWhatDoesNotFit) {
  const LogDensity p(2, [](const Tensor& x) { return -sum(square(x)); });
  expect_error([&] { p.score(zeros({3}, f64)); }, "must be [M, 2], got [3]");
  expect_error([&] { p.score(zeros({3, 2}, f64)); }, "one number per row");
  const LogDensity mute(1, [](const Tensor& x) { return zeros({x.size(0)}, f64); });
  expect_error([&] { mute.score(zeros({3, 1}, f64)); }, "records no gradient");
  expect_error([] { LogDensity(1, {}); }, "the function is empty");
  expect_error([] { LogDensity(0, [](const Tensor& x) { return sum(x, 1); }); }, "at least 1");
}

// −(N·loss + λ/2·|θ|²)/T and its gradient, of y = w·x + b with loss = mean (y − t)².
TEST(LogDensity, OfAModelIsItsPosterior) {
  Generator rng(1);
  Linear model({.in = 2, .out = 1}, rng);
  model.to(f64);
  model.eval();
  const Tensor x = tensor({1, 2, -1, 0}, {2, 2}, f64), t = tensor({1, -1}, {2, 1}, f64);
  const TargetDensity target{.count = 10, .prior_precision = 3, .temperature = 2};
  const LogDensity p = log_posterior(
      model, [&] { return mean(square(model(x) - t)); }, target);
  ASSERT_EQ(p.dim(), 3);
  const Tensor before = model.named_parameters().to_row();
  backward(sum(model(x)));
  const Tensor gradient = clone(model.parameters()[0].grad());
  const LogDensity formula(3, [&](const Tensor& theta) {
    const Tensor w = slice(theta, 1, {.stop = 2}), b = slice(theta, 1, {.start = 2});
    const Tensor loss = mean(square(matmul(w, transpose(x)) + b - transpose(t)), 1);
    return (-10.0 * loss - 1.5 * sum(square(theta), 1)) / 2.0;
  });
  const Tensor theta = normal({4, 3}, rng, 0, 1, f64);
  expect_near(p.score(theta).value, formula.score(theta).value, 1e-12);
  expect_near(p.score(theta).gradient, formula.score(theta).gradient, 1e-12);
  EXPECT_TRUE(same_bits(model.named_parameters().to_row(), before));
  EXPECT_TRUE(same_bits(model.parameters()[0].grad(), gradient));
}

TEST(LogDensity, LeavesTheModelAsItWasWhereTheLossFails) {
  Generator rng(1);
  Linear model({.in = 2, .out = 1}, rng);
  const Tensor before = model.named_parameters().to_row();
  const LogDensity p = log_posterior(model, [&] { return model(zeros({1, 3})); });
  expect_error([&] { p.score(ones({1, 3}, f64)); }, "the model is in training mode");
  model.eval();
  expect_error([&] { p.score(ones({1, 3}, f64)); }, "[1, 3]");
  EXPECT_TRUE(same_bits(model.named_parameters().to_row(), before));
  const Tensor x = ones({1, 2});
  Linear other({.in = 2, .out = 1}, rng);
  other.eval();
  for (const std::function<Tensor()>& loss : std::vector<std::function<Tensor()>>{
           [&] {
             const NoGrad off;
             return sum(model(x));
           },
           [&] { return sum(other(x)); }, [] { return scalar(1); }}) {
    const LogDensity deaf = log_posterior(model, loss);
    expect_error([&] { deaf.score(ones({1, 3}, f64)); }, "depends on none of the parameters");
  }
  EXPECT_TRUE(same_bits(model.named_parameters().to_row(), before));
  expect_error([&] { log_posterior(model, {}); }, "loss is an empty function");
  expect_error([&] { log_posterior(model, [] { return scalar(0); }, {.count = 0}); }, "N is 0");
  expect_error([&] { model.named_parameters().assign_row(ones({2})); }, "have 3 values");
}

}  // namespace
}  // namespace ladon::test::log_density_test
