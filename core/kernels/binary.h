#pragma once
// Lists of functions of two elements. It is a separate header, so that a new function recompiles
// only the loops and the files that name functions.

namespace ladon::kernels {

/// Functions of two elements of one dtype. `div` and `atan2` need a floating dtype. `pow` of a
/// negative base and fractional exponent is NaN; integers to a negative power throw Error.
/// `remainder` has the divisor's sign, as in Python; an integer divisor of 0 throws Error. Integers
/// wrap around. Booleans have mul and minimum (both "and") and maximum ("or"). A `_gradient` is
/// g·f'(x), a function of g and x; relu_gradient is a function of g and y = relu(x). gaussian is
/// exp(−c·x²), a function of x and of c, which must be a power of two.
enum class Binary {
  add,
  sub,
  mul,
  div,
  pow,
  maximum,
  minimum,
  atan2,
  remainder,
  tanh_gradient,
  sigmoid_gradient,
  softplus_gradient,
  relu_gradient,
  gelu_gradient,
  gelu_tanh_gradient,
  silu_gradient,
  gaussian,
  count
};

enum class Compare { eq, ne, lt, le, gt, ge, count };

}  // namespace ladon::kernels
