// Dual activations that users define in closed form.

#include <cmath>
#include <numbers>

#include "ladon/autograd/functional.h"
#include "ladon/layers/activation.h"
#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/tests/layers/infinite/monte_carlo.h"
#include "ladon/tests/support.h"

namespace ladon::infinite::dual_closed_test {
namespace {

Tensor relu_squared(const Tensor& x) { return square(relu(x)); }

/// (3·s·c + (π − θ)(pq + 2c²))/2π with s = sqrt(pq − c²), θ = atan2(s, c)   (Cho and Saul 2009, n =
/// 2).
Tensor relu_squared_dual(const Tensor& p, const Tensor& q, const Tensor& c) {
  const Tensor s = sqrt(relu(p * q - square(c))), angle = std::numbers::pi - atan2(s, c);
  return (3 * s * c + angle * (p * q + 2 * square(c))) / (2 * std::numbers::pi);
}

DualFunction closed() { return DualFunction::closed("relu²", relu_squared, relu_squared_dual); }

TEST(ClosedDual, HasTheKnownValues) {
  const Tensor p = tensor({1.0, 1, 1, 2, 1, 4}, f64), q = tensor({1.0, 1, 1, 2, 1, 1}, f64);
  const Tensor c = tensor({0.0, 1, -1, 2, 0.5, 2}, f64);
  const DualResult e = dual(closed(), p, q, c, true);
  const double pi = std::numbers::pi, root = std::sqrt(0.75);
  // independent; equal; opposite; equal of variance 2; 60° apart; equal but for a factor of 2
  const Tensor value =
      tensor({0.25, 1.5, 0.0, 6.0, (1.5 * root + 2 * pi / 3 * 1.5) / (2 * pi), 6.0}, f64);
  EXPECT_TRUE(all_close(e.value, value, 1e-15, 1e-15));
  // 4·E[relu(u)·relu(v)] = 2/π·(s + (π − θ)·c)
  const Tensor slope = tensor({2 / pi, 2.0, 0.0, 4.0, 2 / pi * (root + pi / 3), 4.0}, f64);
  EXPECT_TRUE(all_close(e.derivative, slope, 1e-14, 1e-14));
}

TEST(ClosedDual, AgreesWithTheFamilyOfTheSameFunction) {
  const auto cube = DualFunction::closed(
      "cube", [](const Tensor& x) { return x * x * x; },
      [](const Tensor& p, const Tensor& q, const Tensor& c) {
        return 9 * p * q * c + 6 * c * c * c;
      });
  const Tensor p = tensor({0.5, 1, 2}, {3, 1}, f64), q = tensor({1.5, 0.7}, {1, 2}, f64);
  const Tensor c = sqrt(p * q) * tensor({0.3, -0.9, 1, 0, 0.6, -0.2}, {3, 2}, f64);
  const DualResult own = dual(cube, p, q, c, true);
  const DualResult family = dual(DualFunction::monomial(3), p, q, c, true);
  EXPECT_TRUE(all_close(own.value, family.value, 1e-14, 1e-14));
  EXPECT_TRUE(all_close(own.derivative, family.derivative, 1e-14, 1e-14));
  EXPECT_FALSE(dual(cube, p, q, c, false).derivative.defined());
  const Tensor none = zeros({0}, f64);
  EXPECT_EQ(dual(cube, none, none, none, true).derivative.count(), 0);
}

// Of both, and of any order: of the derivative too, which the families do not have.
TEST(ClosedDual, GradientsAreThoseOfItsGraph) {
  std::vector<Tensor> in{tensor({0.5, 1.1}, f64), tensor({1.5, 0.7}, f64),
                         tensor({0.3, -0.4}, f64)};
  for (Tensor& x : in) x.set_requires_grad();
  const auto f = [&](const std::vector<Tensor>& x) {
    const DualResult e = dual(closed(), x[0], x[1], x[2], true);
    return concat({e.value, e.derivative}, 0);
  };
  EXPECT_TRUE(gradcheck(f, in));
  EXPECT_TRUE(gradcheck(f, {in[0].detach(), in[1], in[2].detach()}));
  const NoGrad off;
  EXPECT_FALSE(f(in).requires_grad());
}

TEST(ClosedDual, WhatIsWrongIsSaid) {
  const auto error = [](const Pointwise& f, const Covariance& e, const char* text) {
    test::expect_error([&] { DualFunction::closed("mine", f, e); }, text);
  };
  const auto identity = [](const Tensor&, const Tensor&, const Tensor& c) { return c; };
  error(relu_squared, identity,
        "[mine] E[φ(u)φ(v)] at p = 1, q = 1, c = 0.5 is 0.5, but the function");
  error(
      relu_squared,
      [](const Tensor& p, const Tensor& q, const Tensor& c) {
        return 1.01 * relu_squared_dual(p, q, c);
      },
      "[mine] E[φ(u)φ(v)]");
  error({}, identity, "one is empty");
  error(
      relu_squared, [](const Tensor& p, const Tensor&, const Tensor&) { return sum(p); },
      "E must return an f64 tensor of c's shape [4], got f64 []");
  // sign jumps: ∂E/∂c is that of the jump too, which a network's gradient never sees.
  error([](const Tensor& x) { return sign(x); },
        [](const Tensor& p, const Tensor& q, const Tensor& c) {
          return 2 / std::numbers::pi * atan2(c, sqrt(relu(p * q - square(c))));
        },
        "= ∂E/∂c at p = 1");
  error(
      relu_squared,
      [](const Tensor& p, const Tensor& q, const Tensor& c) {
        const Tensor s = sqrt(p * q - square(c)), angle = std::numbers::pi - atan2(s, c);
        return (3 * s * c + angle * (p * q + 2 * square(c))) / (2 * std::numbers::pi);
      },
      "sqrt(relu(p·q − square(c)))");
}

TEST(ClosedDual, IsTheLimitOfFiniteNetworks) {
  constexpr std::int64_t width = 512;
  const auto make = [](Generator& rng) {
    constexpr auto ntk = Parameterization::ntk;
    return std::make_unique<Sequential>(
        Linear({.in = 3, .out = width, .parameterization = ntk}, rng), Elementwise(closed()),
        Linear({.in = width, .out = 4, .parameterization = ntk}, rng));
  };
  Generator rng(3);
  const Tensor a = normal({3, 3}, rng, 0, 1, f64), b = normal({2, 3}, rng, 0, 1, f64);
  test::expect_sharp_limit(make, a, b);
}

}  // namespace
}  // namespace ladon::infinite::dual_closed_test
