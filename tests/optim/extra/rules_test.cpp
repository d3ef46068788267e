// The update rule of each optimizer, compared with its formula.
#include <cmath>

#include "ladon/tests/optim/makers.h"

namespace ladon::test::rules_test {
namespace {

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

TEST(AdamW, DividesByTheLargestMomentWithAmsgrad) {
  expect_after_five_steps(with<AdamW>(AdamWOptions{.lr = 0.1,
                                                   .beta1 = 0.8,
                                                   .beta2 = 0.5,
                                                   .eps = 1e-3,
                                                   .weight_decay = 0.5,
                                                   .amsgrad = true}),
                          {0.45350058158616446, -1.6731575618427568, 0.16218489903755293});
}

TEST(Rmsprop, FollowsItsRule) {
  expect_after_five_steps(
      with<Rmsprop>(RmspropOptions{.lr = 0.1, .decay = 0.9, .eps = 1e-3, .weight_decay = 0.05}),
      {0.290085125300548, -2.6047414403832785, 0.018966635853631453});
  expect_after_five_steps(with<Rmsprop>(RmspropOptions{.lr = 0.1,
                                                       .decay = 0.9,
                                                       .eps = 1e-3,
                                                       .weight_decay = 0.05,
                                                       .momentum = 0.5,
                                                       .centered = true}),
                          {-0.09771604650509194, -2.728914549771534, -0.3143389152989724});
}

TEST(Adagrad, FollowsItsRule) {
  expect_after_five_steps(with<Adagrad>(AdagradOptions{.lr = 0.1}),
                          {0.7323276992810519, -2.1775962652151675, 0.345920490409163});
  expect_after_five_steps(
      with<Adagrad>(AdagradOptions{
          .lr = 0.1, .lr_decay = 0.2, .eps = 1e-3, .weight_decay = 0.05, .initial = 0.3}),
      {0.8352060223961719, -2.113363119515159, 0.3789200597357913});
}

TEST(Lion, FollowsItsRule) {
  expect_after_five_steps(with<Lion>(LionOptions{.lr = 0.1}),
                          {0.5000000000000001, -2.3000000000000003, 0.4});
  expect_after_five_steps(
      with<Lion>(LionOptions{.lr = 0.1, .beta1 = 0.5, .beta2 = 0.8, .weight_decay = 0.5}),
      {0.32134281249999996, -1.83709875, 0.29592734374999985});
}

// A gradient of 0 on a momentum of 0 has no sign.
TEST(Lion, StaysWhereNothingPulls) {
  Tensor x = leaf(tensor({1}, f64));
  x.set_grad(tensor({0}, f64));
  Lion lion({x}, {.lr = 0.1});
  lion.step();
  EXPECT_EQ(x.detach().to_vector()[0], 1);
}

/// The rules that keep squares of gradients, and others.
template <class Rule>
void expect_range_of_gradients(bool squared) {
  for (const DType dtype : {f32, f64}) {
    Tensor x = leaf(ones({3}, dtype)), other = leaf(ones({2}, dtype));
    Rule rule(ParameterSet{{"other", other}, {"weight", x}}, {.lr = 0.1});
    other.set_grad(ones({2}, dtype));
    const auto with = [&](double v) {
      x.set_grad(cast(tensor({0, 1, v}, f64), dtype));
      return [&] { rule.step(); };
    };
    const double inf = std::numeric_limits<double>::infinity();
    expect_error(with(std::nan("")), "the gradient of parameter weight (");
    expect_error(with(-inf), "is not finite (inf)");
    const double beyond = dtype == f32 ? 2e19 : 2e154;
    if (squared) expect_error(with(-beyond), "whose square overflows");
    EXPECT_EQ(x.detach().to_vector(), (std::vector<double>{1, 1, 1}));  // nothing was changed
    EXPECT_EQ(other.detach().to_vector(), (std::vector<double>{1, 1}));
    EXPECT_EQ(rule.steps(), 0);
    with(squared ? beyond / 2 : beyond)();
    EXPECT_EQ(rule.steps(), 1);
    EXPECT_TRUE(all(isfinite(x.detach())).template item<bool>());
    x.set_grad(full({3}, 0.9 * beyond / 2, dtype));  // their sum is beyond, each of them is not
    EXPECT_NO_THROW(rule.step());
  }
}

TEST(Optimizers, RefuseGradientsOutOfRange) {
  expect_range_of_gradients<Sgd>(false);
  expect_range_of_gradients<Lion>(false);
  expect_range_of_gradients<Adam>(true);
  expect_range_of_gradients<AdamW>(true);
  expect_range_of_gradients<Rmsprop>(true);
  expect_range_of_gradients<Adagrad>(true);
}

// The first step of Adam is lr·sign(g), whatever the scale of g.
TEST(Adam, BeginsWithTheSignOfTheGradient) {
  Tensor x = leaf(tensor({1, 1, 1}, f64));
  x.set_grad(tensor({1e-3, -5, 1e4}, f64));
  Adam adam({x}, {.lr = 0.25, .eps = 0});
  adam.step();
  expect_values(x, {0.75, 1.25, 0.75}, 1e-15);
}

}  // namespace
}  // namespace ladon::test::rules_test
