// Gradient flow on the cross-entropy of infinitely wide networks.

#include "ladon/optim/posterior/flow/cross_entropy_flow.h"

#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon {
namespace {

/// The flow in many small steps of its definition.
Tensor by_small_steps(const Tensor& ntk, const Tensor& one_hot, const Tensor& initial, double rate,
                      double time) {
  constexpr int steps = 20000;
  const double n = static_cast<double>(ntk.size(0));
  Tensor c = zeros_like(one_hot);
  for (int i = 0; i < steps; ++i) {
    const auto slope = [&](const Tensor& at) {
      return (rate / n) * (one_hot - softmax(initial + matmul(ntk, at), -1));
    };
    const Tensor half = c + (0.5 * time / steps) * slope(c);  // the midpoint rule
    c = c + (time / steps) * slope(half);
  }
  return c;
}

TEST(CrossEntropyFlow, SolvesItsDifferentialEquation) {
  const test::Problem p(6, 1, 3);
  const Tensor labels = from_vector(std::vector<std::int64_t>{0, 2, 1, 1, 0, 2}, {6});
  const Tensor one_hot =
      tensor({1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1}, {6, 3}, f64);
  const auto c =
      cross_entropy_flow(p.train, labels, 3, {0, 2, 40},
                         {.learning_rate = 1.5, .tolerance = 1e-9, .initial = p.targets});
  ASSERT_EQ(c.size(), 3u);
  EXPECT_TRUE(all_equal(c[0], zeros({6, 3}, f64)));
  test::expect_near(c[1], by_small_steps(p.train, one_hot, p.targets, 1.5, 2), 1e-7);
  test::expect_near(c[2], by_small_steps(p.train, one_hot, p.targets, 1.5, 40), 1e-6);
}

// One example of two classes: of its logits (a, −a), da/dt = ηθ/(1 + exp 2a), so that
// a + exp(2a)/2 = ηθ·t + ½.
TEST(CrossEntropyFlow, OfOneExampleIsKnown) {
  const double theta = 2.5, rate = 0.3;
  for (const double time : {0.1, 3.0, 1000.0, 1e6}) {
    const Tensor c = cross_entropy_flow(full({1, 1}, theta, f64), zeros({1}, i64), 2, {time},
                                        {.learning_rate = rate, .tolerance = 1e-10})[0];
    const double a = theta * c.to_vector()[0];
    EXPECT_NEAR(theta * c.to_vector()[1], -a, 1e-9);
    EXPECT_NEAR((a + std::exp(2 * a) / 2) / (rate * theta * time + 0.5), 1, 1e-6) << time;
  }
}

TEST(CrossEntropyFlow, IsWithinItsTolerance) {
  const test::Problem p(20, 1, 1);
  Generator rng(3);
  const Tensor labels = randint({20}, rng, 0, 4);
  const auto at = [&](double tolerance) {
    return matmul(p.train,
                  cross_entropy_flow(p.train, labels, 4, {500.0}, {.tolerance = tolerance})[0]);
  };
  const Tensor exact = at(1e-11);
  EXPECT_LT(amax(abs(at(1e-4) - exact)).item(), 1e-3);
  EXPECT_LT(amax(abs(at(1e-7) - exact)).item(), 1e-6);
}

TEST(CrossEntropyFlow, RefusesWhatDoesNotFit) {
  const Tensor k = eye(2, f64), labels = zeros({2}, i64);
  test::expect_error([&] { cross_entropy_flow(k, zeros({3}, i64), 2, {1}); }, "3 labels");
  test::expect_error([&] { cross_entropy_flow(k, labels, 2, {2, 1}); }, "must ascend");
  test::expect_error([&] { cross_entropy_flow(k, labels, 2, {INFINITY}); }, "must ascend");
  // Labels that contradict each other keep the fastest direction fast.
  const Tensor both = from_vector(std::vector<std::int64_t>{0, 0, 1}, {3});
  test::expect_error(
      [&] {
        cross_entropy_flow(ones({3, 3}, f64), both, 2, {1e12});
      },
      "more than 1e+06 steps");
  test::expect_error([&] { cross_entropy_flow(k, labels, 2, {1}, {.tolerance = 0}); },
                     "the tolerance in (0, 0.1]");
  test::expect_error(
      [&] {
        cross_entropy_flow(k, labels, 2, {1}, {.initial = zeros({2, 3}, f64)});
      },
      "initial");
}

}  // namespace
}  // namespace ladon
