// Functions of one floating-point element: elementary ones and activations.

#include <cmath>
#include <numbers>

#include "ladon/autograd/elementwise.h"
#include "ladon/autograd/forms.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/piecewise.h"
#include "ladon/autograd/slopes.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/piecewise_functions.h"
#include "ladon/core/kernels/unary.h"

namespace ladon {
namespace {

using kernels::Binary;
using kernels::Piecewise;
using kernels::Unary;

/// x clamped to [−bound, bound], for an x that multiplies a function that is 0 beyond the bound:
/// ∞·0 would be NaN.
Tensor within(const Tensor& x, double bound) { return clamp(x, -bound, bound); }

/// exp(−c·x²) for a power of two c.
Tensor gaussian(const Tensor& x, double c) {
  return elementwise(Binary::gaussian, x, c, [x = saved(x), c](const Tensor& g, const Tensor& y) {
    return -2 * c * g * within(x, 40) * y;
  });
}

}  // namespace

// --- derivatives of saturating functions (slopes.h) ---

Tensor detail::sigmoid_slope(const Tensor& x) {
  return elementwise(Unary::sigmoid_slope, x, [x = saved(x)](const Tensor& g, const Tensor& y) {
    return -g * y * tanh(0.5 * *x);  // σ' = sech²(x/2)/4, whose derivative is −σ'·tanh(x/2)
  });
}

Tensor detail::tanh_slope(const Tensor& x) { return 4 * sigmoid_slope(2 * x); }

// --- elementary functions ---

Tensor sqrt(const Tensor& x) {
  return elementwise(Unary::sqrt, x,
                     [](const Tensor& g, const Tensor& y) { return 0.5 * g / y; });  // 1/(2·√x)
}

Tensor rsqrt(const Tensor& x) {
  return elementwise(Unary::rsqrt, x, [](const Tensor& g, const Tensor& y) {
    return -0.5 * g * y * y * y;  // (x^−½)' = −½·x^(−3/2)
  });
}

Tensor reciprocal(const Tensor& x) {
  return elementwise(Unary::reciprocal, x,
                     [](const Tensor& g, const Tensor& y) { return -g * y * y; });  // (1/x)' = −y²
}

Tensor exp(const Tensor& x) {
  return elementwise(Unary::exp, x,
                     [](const Tensor& g, const Tensor& y) { return g * y; });  // (e^x)' = e^x
}

Tensor expm1(const Tensor& x) {
  return elementwise(Unary::expm1, x, [x = saved(x)](const Tensor& g) { return g * exp(x); });
}

Tensor log(const Tensor& x) {
  return elementwise(Unary::log, x, [x = saved(x)](const Tensor& g) { return g / x; });  // 1/x
}

Tensor log1p(const Tensor& x) {
  return elementwise(Unary::log1p, x,
                     [x = saved(x)](const Tensor& g) { return g / (1 + *x); });  // 1/(1 + x)
}

Tensor sin(const Tensor& x) {
  return elementwise(Unary::sin, x, [x = saved(x)](const Tensor& g) { return g * cos(x); });
}

Tensor cos(const Tensor& x) {
  return elementwise(Unary::cos, x, [x = saved(x)](const Tensor& g) { return -g * sin(x); });
}

Tensor tanh(const Tensor& x) {
  return elementwise(Unary::tanh, x, [x = saved(x)](const Tensor& g) {
    return fast_or_composed(
        "tanh_gradient", {g, *x}, [&] { return kernels::binary(Binary::tanh_gradient, g, x); },
        [&] { return g * detail::tanh_slope(x); });
  });
}

Tensor erf(const Tensor& x) {
  return elementwise(Unary::erf, x, [x = saved(x)](const Tensor& g) {
    return g * (2 * std::numbers::inv_sqrtpi * gaussian(x, 1));  // erf' = 2/√π·e^(−x²)
  });
}

Tensor sigmoid(const Tensor& x) {
  return elementwise(Unary::sigmoid, x, [x = saved(x)](const Tensor& g) {
    return fast_or_composed(
        "sigmoid_gradient", {g, *x},
        [&] { return kernels::binary(Binary::sigmoid_gradient, g, x); },
        [&] { return g * detail::sigmoid_slope(x); });
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
        [&] { return masked_fill(g, less_equal(y, 0), 0); });  // slope 1 for x > 0, else 0
  });
}

Tensor leaky_relu(const Tensor& x, double slope) {
  check_floating("leaky_relu", x);
  return piecewise(
      "leaky_relu", Piecewise::leaky_relu, x, {slope},
      [slope](const Tensor& g, const Tensor& u) { return where(greater(u, 0), g, slope * g); });
}

namespace {

/// scale·elu(x, alpha)
Tensor scaled_elu(const char* name, const Tensor& x, double alpha, double scale) {
  check_floating(name, x);
  return piecewise(name, Piecewise::elu, x, {alpha, scale}, [=](const Tensor& g, const Tensor& u) {
    // with e^min(x, 0) in place of e^x, which may be ∞ where x > 0 and the other branch is taken
    const Tensor below = alpha * exp(clamp(u, -HUGE_VAL, 0));
    return g * (scale * where(greater(u, 0), 1, below));
  });
}

}  // namespace

Tensor elu(const Tensor& x, double alpha) { return scaled_elu("elu", x, alpha, 1); }

Tensor selu(const Tensor& x) {
  constexpr double scale = 1.0507009873554804934193349852946;
  constexpr double alpha = 1.6732632423543772848170429916717;
  return scaled_elu("selu", x, alpha, scale);
}

Tensor silu(const Tensor& x) {
  return elementwise(Unary::silu, x, [x = saved(x)](const Tensor& g) {
    return fast_or_composed(
        "silu_gradient", {g, *x}, [&] { return kernels::binary(Binary::silu_gradient, g, x); },
        [&] {  // (xσ)' = σ + xσ'
          return g * (sigmoid(x) + within(x, 800) * detail::sigmoid_slope(x));
        });
  });
}

namespace {

/// The normal distribution function Φ(x), with derivative φ(x) = e^(−x²/2)/√(2π).
Tensor normal_cdf(const Tensor& x) {
  return elementwise(Unary::normal_cdf, x, [x = saved(x)](const Tensor& g) {
    return g * (std::numbers::inv_sqrtpi / std::numbers::sqrt2 * gaussian(x, 0.5));
  });
}

// The derivative of gelu: (x·Φ)' = Φ + x·φ.
Tensor gelu_slope(const Tensor& x) {
  const Tensor density = std::numbers::inv_sqrtpi / std::numbers::sqrt2 * gaussian(x, 0.5);
  return normal_cdf(x) + within(x, 40) * density;
}

Tensor gelu_tanh_gate(const Tensor& x);

// The derivative of gelu_tanh_gate: σ(v)' = σ(v)·σ(−v)·v' with v = 2c·(x + a·x³). Since v is odd in
// x, σ(−v) is the gate of −x.
Tensor gelu_tanh_gate_slope(const Tensor& x) {
  constexpr double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, a = 0.044715;
  const Tensor slope = 2 * c + 6 * c * a * square(within(x, 40));
  return gelu_tanh_gate(x) * gelu_tanh_gate(-x) * slope;
}

/// The gate σ(v) of the tanh approximation gelu(x) ≈ x/2·(1 + tanh(v/2)) = x·σ(v), with v as in
/// gelu_tanh_gate_slope().
Tensor gelu_tanh_gate(const Tensor& x) {
  return elementwise(Unary::gelu_tanh_gate, x,
                     [x = saved(x)](const Tensor& g) { return g * gelu_tanh_gate_slope(x); });
}

Tensor gelu_tanh_slope(const Tensor& x) {
  return gelu_tanh_gate(x) + within(x, 40) * gelu_tanh_gate_slope(x);
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
