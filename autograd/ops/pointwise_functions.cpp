// Functions of one floating-point element: elementary ones and activations.

#include <cmath>
#include <numbers>

#include "ladon/autograd/elementwise.h"
#include "ladon/autograd/forms.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/unary.h"

namespace ladon {
namespace {
using kernels::Binary;
using kernels::Unary;
}  // namespace

// --- elementary functions ---

Tensor sqrt(const Tensor& x) {
  return elementwise(Unary::sqrt, x,
                     [](const Tensor& g, const Tensor& y) { return 0.5 * g / y; });  // 1/(2·sqrt x)
}

Tensor rsqrt(const Tensor& x) {
  return elementwise(Unary::rsqrt, x, [](const Tensor& g, const Tensor& y) {
    return -0.5 * g * (y * y * y);  // (x^−½)' = −½·x^(−3/2)
  });
}

Tensor reciprocal(const Tensor& x) {
  return elementwise(Unary::reciprocal, x,
                     [](const Tensor& g, const Tensor& y) { return -g * (y * y); });  // −1/x²
}

Tensor exp(const Tensor& x) {
  return elementwise(Unary::exp, x,
                     [](const Tensor& g, const Tensor& y) { return g * y; });  // (e^x)' = e^x
}

Tensor expm1(const Tensor& x) {
  return elementwise(Unary::expm1, x,
                     [](const Tensor& g, const Tensor& y) { return g * (y + 1); });  // e^x
}

Tensor log(const Tensor& x) {
  return elementwise(Unary::log, x, [x = saved(x)](const Tensor& g) { return g / x; });  // 1/x
}

Tensor log1p(const Tensor& x) {
  return elementwise(Unary::log1p, x,
                     [x = saved(x)](const Tensor& g) { return g / (1 + *x); });  // 1/(1+x)
}

Tensor sin(const Tensor& x) {
  return elementwise(Unary::sin, x, [x = saved(x)](const Tensor& g) { return g * cos(x); });
}

Tensor cos(const Tensor& x) {
  return elementwise(Unary::cos, x, [x = saved(x)](const Tensor& g) { return -g * sin(x); });
}

Tensor tanh(const Tensor& x) {
  return elementwise(Unary::tanh, x, [](const Tensor& g, const Tensor& y) {
    return fast_or_composed(
        "tanh_gradient", {g, y}, [&] { return kernels::binary(Binary::tanh_gradient, g, y); },
        [&] { return g * (1 - square(y)); });  // 1 − tanh²
  });
}

Tensor erf(const Tensor& x) {
  return elementwise(Unary::erf, x, [x = saved(x)](const Tensor& g) {
    return g * (2 * std::numbers::inv_sqrtpi * exp(-square(x)));  // 2/sqrt π·e^(−x²)
  });
}

Tensor sigmoid(const Tensor& x) {
  return elementwise(Unary::sigmoid, x, [](const Tensor& g, const Tensor& y) {
    return fast_or_composed(
        "sigmoid_gradient", {g, y}, [&] { return kernels::binary(Binary::sigmoid_gradient, g, y); },
        [&] { return g * (y * (1 - y)); });  // σ(1 − σ)
  });
}

// --- activations ---

Tensor softplus(const Tensor& x) {
  return elementwise(Unary::softplus, x, [x = saved(x)](const Tensor& g) {
    return fast_or_composed(
        "softplus_gradient", {g, *x},
        [&] { return kernels::binary(Binary::softplus_gradient, g, x); },
        [&] { return g * sigmoid(x); });
  });
}

Tensor relu(const Tensor& x) {
  return elementwise(Unary::relu, x, [](const Tensor& g, const Tensor& y) {
    return fast_or_composed(
        "relu_gradient", {g, y}, [&] { return kernels::binary(Binary::relu_gradient, g, y); },
        [&] { return masked_fill(g, less_equal(y, 0), 0); });  // [x > 0]
  });
}

Tensor leaky_relu(const Tensor& x, double slope) {
  check_floating("leaky_relu", x);
  return where(greater(x, 0), x, slope * x);
}

Tensor elu(const Tensor& x, double alpha) {
  check_floating("elu", x);
  const Tensor below = clamp(x, -HUGE_VAL, 0);  // so that e^x stays finite where it is not used
  return where(greater(x, 0), x, alpha * expm1(below));
}

Tensor selu(const Tensor& x) {
  check_floating("selu", x);
  constexpr double scale = 1.0507009873554804934193349852946;
  constexpr double alpha = 1.6732632423543772848170429916717;
  return scale * elu(x, alpha);
}

Tensor silu(const Tensor& x) {
  return elementwise(Unary::silu, x, [x = saved(x)](const Tensor& g) {
    return fast_or_composed(
        "silu_gradient", {g, *x}, [&] { return kernels::binary(Binary::silu_gradient, g, x); },
        [&] {
          const Tensor s = sigmoid(x);
          return g * (s + *x * s * (1 - s));  // (xσ)' = σ + xσ(1 − σ)
        });
  });
}

namespace {

// (xΦ)' = Φ + xφ
Tensor gelu_slope(const Tensor& x) {
  const Tensor cdf = 0.5 * (1 + erf(x * (1 / std::numbers::sqrt2)));
  const Tensor density = std::numbers::inv_sqrtpi / std::numbers::sqrt2 * exp(-0.5 * square(x));
  return cdf + x * density;
}

// y = x(1 + tanh u)/2 with u = c(x + ax³): y' = (1 + tanh u)/2 + x(1 − tanh² u)u'/2
Tensor gelu_tanh_slope(const Tensor& x) {
  constexpr double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, a = 0.044715;
  const Tensor x2 = square(x);
  const Tensor t = tanh(x * (c + c * a * x2));
  const Tensor slope = c + 3 * c * a * x2;
  return 0.5 * (1 + t) + 0.5 * x * (1 - square(t)) * slope;
}

Tensor gelu_exact(const Tensor& x) {
  return elementwise(Unary::gelu, x, [x = saved(x)](const Tensor& g) {
    return fast_or_composed(
        "gelu_gradient", {g, *x}, [&] { return kernels::binary(Binary::gelu_gradient, g, x); },
        [&] { return g * gelu_slope(x); });
  });
}

Tensor gelu_tanh(const Tensor& x) {
  const auto compute = [](const Tensor& a) { return kernels::unary(Unary::gelu_tanh, a); };
  const auto rule = [x = saved(x)](const Tensor& g) {
    return fast_or_composed(
        "gelu_tanh_gradient", {g, *x},
        [&] { return kernels::binary(Binary::gelu_tanh_gradient, g, x); },
        [&] { return g * gelu_tanh_slope(x); });
  };
  return record("gelu", in_common_dtype("gelu", x, f32, compute), {x}, rule);
}

}  // namespace

Tensor gelu(const Tensor& x, Gelu form) {
  return form == Gelu::exact ? gelu_exact(x) : gelu_tanh(x);
}

}  // namespace ladon
