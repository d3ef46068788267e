#pragma once
// Pointwise computation on strided tensors. No gradients: see autograd/ops/pointwise.h.

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// Functions of one element. floor, abs, neg, sign, square also take integers; the rest need a
/// floating dtype (Error). `derivative` names f' as a function of x where it is not elementary.
enum class Unary {
  neg,
  abs,
  sign,
  floor,
  ceil,
  round,
  square,
  sqrt,
  rsqrt,
  reciprocal,
  exp,
  expm1,
  log,
  log1p,
  sin,
  cos,
  tanh,
  erf,
  sigmoid,
  softplus,
  relu,
  gelu,
  gelu_derivative,
  gelu_tanh,
  gelu_tanh_derivative,
  silu,
  count
};

/// Functions of two elements of one dtype. `div` needs a floating dtype; `pow` of a negative base
/// and fractional exponent is NaN.
enum class Binary { add, sub, mul, div, pow, maximum, minimum, atan2, remainder, count };

enum class Compare { eq, ne, lt, le, gt, ge, count };

/// y = f(x), contiguous.
Tensor unary(Unary op, const Tensor& x);
/// y = f(a, b) with broadcasting; both of one dtype (Error).
Tensor binary(Binary op, const Tensor& a, const Tensor& b);
/// y = f(x, s) and y = f(s, x), in x's dtype.
Tensor binary(Binary op, const Tensor& x, double s);
Tensor binary(Binary op, double s, const Tensor& x);
/// Boolean result, with broadcasting. Comparisons with NaN are false, except ne.
Tensor compare(Compare op, const Tensor& a, const Tensor& b);
Tensor compare(Compare op, const Tensor& x, double s);
/// condition ? a : b, with broadcasting of all three. a and b of one dtype.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

/// Elements converted to another dtype (x itself when it has it). Float → integer truncates toward
/// zero.
Tensor cast(const Tensor& x, DType dtype);
/// x if it is contiguous, else a row-major copy.
Tensor contiguous(const Tensor& x);
/// A row-major copy on storage of its own.
Tensor clone(const Tensor& x);
/// destination ← source, broadcast to its shape and cast to its dtype; the destination may be
/// strided.
void copy(Tensor destination, const Tensor& source);
/// x ← a·x + b·y elementwise with y broadcast to x; x may be strided. In place.
void axpby(double a, Tensor x, double b, const Tensor& y);
void fill(Tensor x, double value);

}  // namespace ladon::kernels
