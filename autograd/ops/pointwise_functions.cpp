// Functions of one floating-point element: elementary ones and activations.

#include <cmath>
#include <numbers>

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/kernels/unary.h"

namespace ladon {
namespace {

using kernels::Unary;

Tensor map(const char* name, Unary op, const Tensor& x) {
  return promoted(name, x, f32, [op](const Tensor& a) { return kernels::unary(op, a); });
}

}  // namespace

// --- elementary functions ---

Tensor sqrt(const Tensor& x) {
  return record("sqrt", map("sqrt", Unary::sqrt, x), {x},
                [](const Tensor& g, const Tensor& y) { return 0.5 * g / y; });  // 1/(2·sqrt x)
}

Tensor rsqrt(const Tensor& x) {
  return record("rsqrt", map("rsqrt", Unary::rsqrt, x), {x}, [](const Tensor& g, const Tensor& y) {
    return -0.5 * g * (y * y * y);  // (x^−½)' = −½·x^(−3/2)
  });
}

Tensor reciprocal(const Tensor& x) {
  return record("reciprocal", map("reciprocal", Unary::reciprocal, x), {x},
                [](const Tensor& g, const Tensor& y) { return -g * (y * y); });  // −1/x²
}

Tensor exp(const Tensor& x) {
  return record("exp", map("exp", Unary::exp, x), {x},
                [](const Tensor& g, const Tensor& y) { return g * y; });  // (e^x)' = e^x
}

Tensor expm1(const Tensor& x) {
  return record("expm1", map("expm1", Unary::expm1, x), {x},
                [](const Tensor& g, const Tensor& y) { return g * (y + 1); });  // e^x
}

Tensor log(const Tensor& x) {
  return record("log", map("log", Unary::log, x), {x},
                [x = saved(x)](const Tensor& g) { return g / x; });  // 1/x
}

Tensor log1p(const Tensor& x) {
  return record("log1p", map("log1p", Unary::log1p, x), {x},
                [x = saved(x)](const Tensor& g) { return g / (1 + *x); });  // 1/(1+x)
}

Tensor sin(const Tensor& x) {
  return record("sin", map("sin", Unary::sin, x), {x},
                [x = saved(x)](const Tensor& g) { return g * cos(x); });
}

Tensor cos(const Tensor& x) {
  return record("cos", map("cos", Unary::cos, x), {x},
                [x = saved(x)](const Tensor& g) { return -g * sin(x); });
}

Tensor tanh(const Tensor& x) {
  return record("tanh", map("tanh", Unary::tanh, x), {x}, [](const Tensor& g, const Tensor& y) {
    return g * (1 - square(y));  // 1 − tanh²
  });
}

Tensor erf(const Tensor& x) {
  return record("erf", map("erf", Unary::erf, x), {x}, [x = saved(x)](const Tensor& g) {
    return g * (2 * std::numbers::inv_sqrtpi * exp(-square(x)));  // 2/sqrt π·e^(−x²)
  });
}

Tensor sigmoid(const Tensor& x) {
  return record("sigmoid", map("sigmoid", Unary::sigmoid, x), {x},
                [](const Tensor& g, const Tensor& y) { return g * (y * (1 - y)); });  // σ(1 − σ)
}

// --- activations ---

Tensor softplus(const Tensor& x) {
  return record("softplus", map("softplus", Unary::softplus, x), {x},
                [x = saved(x)](const Tensor& g) { return g * sigmoid(x); });
}

Tensor relu(const Tensor& x) {
  return record("relu", map("relu", Unary::relu, x), {x}, [](const Tensor& g, const Tensor& y) {
    return masked_fill(g, less_equal(y, 0), 0);  // [x > 0]
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
  return record("silu", map("silu", Unary::silu, x), {x}, [x = saved(x)](const Tensor& g) {
    const Tensor s = sigmoid(x);
    return g * (s + *x * s * (1 - s));  // (xσ)' = σ + xσ(1 − σ)
  });
}

namespace {

Tensor gelu_exact(const Tensor& x) {
  return record("gelu", map("gelu", Unary::gelu, x), {x}, [x = saved(x)](const Tensor& g) {
    if (!grad_enabled()) return g * kernels::unary(Unary::gelu_derivative, x);
    const Tensor cdf = 0.5 * (1 + erf(*x * (1 / std::numbers::sqrt2)));
    const Tensor density = std::numbers::inv_sqrtpi / std::numbers::sqrt2 * exp(-0.5 * square(x));
    return g * (cdf + *x * density);  // (xΦ)' = Φ + xφ
  });
}

Tensor gelu_tanh(const Tensor& x) {
  return record("gelu", map("gelu", Unary::gelu_tanh, x), {x}, [x = saved(x)](const Tensor& g) {
    if (!grad_enabled()) return g * kernels::unary(Unary::gelu_tanh_derivative, x);
    // y = x(1 + tanh u)/2 with u = c(x + ax³): y' = (1 + tanh u)/2 + x(1 − tanh² u)u'/2
    constexpr double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, a = 0.044715;
    const Tensor x2 = square(x);
    const Tensor t = tanh(*x * (c + c * a * x2));
    const Tensor slope = c + 3 * c * a * x2;
    return g * (0.5 * (1 + t) + 0.5 * *x * (1 - square(t)) * slope);
  });
}

}  // namespace

Tensor gelu(const Tensor& x, Gelu form) {
  return form == Gelu::exact ? gelu_exact(x) : gelu_tanh(x);
}

}  // namespace ladon
