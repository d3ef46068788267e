#pragma once
// List of functions of one element. It is apart from the code that computes them, so that only the
// files that name one include it, and the loops, compiled for several instruction sets, nothing
// else.

namespace ladon::kernels {

/// Functions of one element. floor, abs, neg, sign and square also take integers; the rest need a
/// floating dtype (Error). round rounds halves to even. silu, gelu and gelu_tanh multiply x by a
/// gate: sigmoid(x), normal_cdf(x) and gelu_tanh_gate(x). sigmoid_slope is the derivative of
/// sigmoid. These four do not lose small values in either tail.
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
