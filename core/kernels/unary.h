#pragma once
// The list of functions of one element. It stands apart from what computes them, so that only files
// that name one see the list, and the loops, compiled for several instruction sets, nothing else.

namespace ladon::kernels {

/// Functions of one element. floor, abs, neg, sign and square also take integers; the rest need a
/// floating dtype (Error). round takes halves to the even neighbour. The gates that x is multiplied
/// by are sigmoid(x) in silu, normal_cdf(x) in gelu and gelu_tanh_gate(x) in its approximation;
/// sigmoid_slope is the derivative of sigmoid. They keep their small values, at both ends.
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
