#pragma once
// Pointwise operations. Two tensors broadcast by NumPy's rule and are promoted to the larger of
// their dtypes (bool < i64 < f32 < f64); booleans are computed in i64, half-precision dtypes in
// f32. A number operand is converted to the dtype of the tensor operand; a number that is not an
// integer with a tensor of integers throws Error. Functions whose results are not integers convert
// integers and booleans to f32. All throw Error for shapes that do not broadcast and for undefined
// tensors.
//
// Derivatives are accurate to a few units in the last place of each element, in reverse and forward
// mode, fused or composed (tests/autograd/extra/contract), even where functions saturate and at
// both ends of the dtype's range. Where a derivative is infinite, an incoming gradient of 0 gives
// 0·∞ = NaN, as in PyTorch: minimum(exp(x), 1) at x = 100 has the gradient NaN in f32; write
// exp(minimum(x, 0)) instead.

#include "ladon/core/tensor.h"

namespace ladon {

Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
/// True division: two integers give f32.
Tensor div(const Tensor& a, const Tensor& b);
/// a^b. The gradient with respect to b is a^b·ln a, and 0 where a = 0 and b ≥ 0. The gradient with
/// respect to a, b·a^(b−1), has a relative error of |ln a| units in the last place of b, because
/// b − 1 is rounded.
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& x, double exponent);
/// The angle of the point (x, y) from the x axis, in (−π, π]. Gradient 0 at the origin and
/// at infinity.
Tensor atan2(const Tensor& y, const Tensor& x);
/// The larger (smaller) of two elements. Where they are equal, each operand gets half of the
/// gradient, even if one of the operands is a number.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& x, double s);
Tensor minimum(const Tensor& x, double s);
Tensor maximum(double s, const Tensor& x);
Tensor minimum(double s, const Tensor& x);

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator+(const Tensor& x, double s);
Tensor operator-(const Tensor& x, double s);
Tensor operator*(const Tensor& x, double s);
Tensor operator/(const Tensor& x, double s);
Tensor operator+(double s, const Tensor& x);
Tensor operator-(double s, const Tensor& x);
Tensor operator*(double s, const Tensor& x);
Tensor operator/(double s, const Tensor& x);
Tensor operator-(const Tensor& x);

Tensor neg(const Tensor& x);
/// The gradient is sign(x), which is 0 at x = 0.
Tensor abs(const Tensor& x);
/// −1, 0 or 1; gradient 0.
Tensor sign(const Tensor& x);
/// Rounding; gradient 0. `round` rounds halfway cases to even.
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor round(const Tensor& x);
Tensor square(const Tensor& x);
Tensor sqrt(const Tensor& x);
/// 1/sqrt(x).
Tensor rsqrt(const Tensor& x);
/// 1/x.
Tensor reciprocal(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor erf(const Tensor& x);
/// 1/(1 + e^−x).
Tensor sigmoid(const Tensor& x);
/// ln(1 + e^x), without overflow.
Tensor softplus(const Tensor& x);
/// max(x, 0); gradient 0 at 0.
Tensor relu(const Tensor& x);
/// x for x > 0, else slope·x.
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// x for x > 0, else alpha·(e^x − 1).
Tensor elu(const Tensor& x, double alpha = 1);
/// scale·elu(x, alpha) with the constants of Klambauer et al. 2017.
Tensor selu(const Tensor& x);
/// x·sigmoid(x).
Tensor silu(const Tensor& x);

enum class Gelu { exact, tanh };
/// x·Φ(x), with Φ the normal distribution function (exact), or its tanh approximation
/// (Hendrycks and Gimpel 2016).
Tensor gelu(const Tensor& x, Gelu form = Gelu::exact);

/// x limited to [low, high]; the gradient is 1 inside, ends included, and 0 outside.
Tensor clamp(const Tensor& x, double low, double high);

/// Elements converted to another dtype. A result in f32 or f64 has a gradient, which is cast back;
/// results in other dtypes have none. Half-precision results are rounded to nearest, ties to even.
/// Returns x itself if it already has the dtype.
Tensor cast(const Tensor& x, DType dtype);

}  // namespace ladon
