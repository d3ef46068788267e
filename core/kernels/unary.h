#pragma once
// List of functions of one element. It is a separate header, so that a new function recompiles only
// the loops (for several instruction sets) and the files that name functions.

namespace ladon::kernels {

/// Functions of one element. floor, abs, neg, sign and square also take integers; all others throw
/// Error unless the dtype is floating. round rounds halves to even. silu, gelu and gelu_tanh are x
/// times a gate: sigmoid(x), normal_cdf(x) and gelu_tanh_gate(x). sigmoid_slope is the derivative
/// of sigmoid. The three gates and sigmoid_slope keep their relative precision in both tails.
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
  gelu_tanh,
  silu,
  sigmoid_slope,
  normal_cdf,
  gelu_tanh_gate,
  count
};

}  // namespace ladon::kernels
