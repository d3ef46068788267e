// Nonlinearities from outside, with the closed form of what they do to kernels, checked by averages
// over finite networks.

#include <numbers>

#include "expect_limit.h"
using namespace ladon;
using T = const Tensor&;

Tensor relu_squared(T x) { return square(relu(x)); }
Tensor relu_squared_dual(T p, T q, T c) {  // Cho and Saul 2009, order 2
  const Tensor s = sqrt(relu(p * q - square(c))), angle = std::numbers::pi - atan2(s, c);
  return (3 * s * c + angle * (p * q + 2 * square(c))) / (2 * std::numbers::pi);
}
Tensor ricker(T x) { return x * exp(-0.5 * square(x)); }
Tensor ricker_dual(T p, T q, T c) { return c * pow((1 + p) * (1 + q) - square(c), -1.5); }

int main() {
  for (const auto& dual : {infinite::DualFunction::closed("relu²", relu_squared, relu_squared_dual),
                           infinite::DualFunction::closed("ricker", ricker, ricker_dual)})
    expect_limit([&] { return Elementwise(dual); });
}
