// Nonlinearities from outside, with the closed form of what they do to kernels, checked by averages
// over finite networks.

#include <numbers>

#include "expect.h"
#include "ladon/layers/infinite/finite/monte_carlo.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
using namespace ladon;
using T = const Tensor&;

Tensor relu_squared(T x) { return square(relu(x)); }
Tensor relu_squared_dual(T p, T q, T c) {  // Cho and Saul 2009, order 2
  const Tensor s = sqrt(relu(p * q - square(c))), angle = std::numbers::pi - atan2(s, c);
  return (3 * s * c + angle * (p * q + 2 * square(c))) / (2 * std::numbers::pi);
}
Tensor ricker(T x) { return x * exp(-0.5 * square(x)); }
Tensor ricker_dual(T p, T q, T c) { return c * pow((1 + p) * (1 + q) - square(c), -1.5); }

void check(const infinite::DualFunction& dual, Tensor (*f)(T)) {
  const LinearOptions first{.in = 3, .out = 512, .parameterization = Parameterization::ntk};
  const LinearOptions last{.in = 512, .out = 1, .parameterization = Parameterization::ntk};
  const auto make = [&](Generator& rng) {
    return std::make_unique<Sequential>(Linear(first, rng), Elementwise(f, dual),
                                        Linear(last, rng));
  };
  Generator rng(1);
  const Tensor x = normal({3, 3}, rng, 0, 1, f64);
  const auto k = infinite::limit(*make(rng))(x);
  const auto sampled = infinite::monte_carlo_kernel(make, x, x, rng, {.draws = 300});
  const auto z = [](T got, T limit, T se) { return amax(abs(got - limit) / se).item(); };
  expect_near("NNGP: error in s.e.", z(sampled.nngp, k.nngp, sampled.nngp_se), 0, 4);
  expect_near("NTK: error in s.e.", z(sampled.ntk, k.ntk, sampled.ntk_se), 0, 4);
}

int main() {
  check(infinite::DualFunction::closed("relu²", relu_squared, relu_squared_dual), relu_squared);
  check(infinite::DualFunction::closed("ricker", ricker, ricker_dual), ricker);
}
