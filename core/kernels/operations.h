#pragma once
// The names of the functions that the vector loops compute. This header stands apart from
// pointwise.h and reduce.h so that the loops, compiled for several instruction sets, see nothing of
// the rest of the program.

namespace ladon::kernels {

/// Functions of one element. floor, abs, neg, sign and square also take integers; the rest need a
/// floating dtype (Error). A `_derivative` is f' as a function of x, where it is not elementary.
/// round takes halves to the even neighbour.
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

/// Functions of two elements of one dtype. `div` and `atan2` need a floating dtype. `pow` of a
/// negative base and fractional exponent is NaN; integers to a negative power throw Error. `remainder`
/// has the divisor's sign, as in Python; an integer divisor of 0 throws Error. Integers wrap
/// around. Booleans have mul and minimum (both "and") and maximum ("or").
enum class Binary { add, sub, mul, div, pow, maximum, minimum, atan2, remainder, count };

enum class Compare { eq, ne, lt, le, gt, ge, count };

/// Sums of booleans and integers are i64. The reduction of nothing is 0, 1, −∞, +∞, false, true for
/// sum, prod, max, min, any, all; max and min of integers over nothing throw Error. NaN propagates
/// through max and min, and counts as true.
enum class Reduce { sum, prod, max, min, any, all, sum_squares, sum_abs, count };

/// Coefficients of one step of stochastic gradient descent:
///   g ← g + weight_decay·x;  m ← momentum·m + gradient_weight·g;  x ← x − lr·u
/// with u = m, or g + momentum·m (nesterov), or g where there is no m.
struct SgdStep {
  double lr, momentum, gradient_weight, weight_decay;
  bool nesterov;
};

/// Coefficients of one step of Adam:
///   g ← g + weight_decay·x;  m ← beta1·m + (1−beta1)·g;  v ← beta2·v + (1−beta2)·g²;
///   x ← shrink·x − lr·m/(sqrt(v)·correction + eps)
struct AdamStep {
  double lr, beta1, beta2, correction, eps, weight_decay, shrink;
};

}  // namespace ladon::kernels
