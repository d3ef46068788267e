#pragma once
// Functions of one element, or of a prediction and its target, that are defined piece by piece,
// with up to two numbers as parameters. Each has a loop for the value and one for the gradient, so
// that intermediate results need not be written to memory. No gradients are recorded: see
// autograd/piecewise.h.

#include "ladon/core/tensor.h"

namespace ladon::kernels {

enum class Piecewise;  // listed in piecewise_functions.h, as is Loss
enum class Loss;

/// The parameters of a function, as piecewise_functions.h names them.
struct Numbers {
  double a = 0, b = 0;
};

/// y = f(x), contiguous. Throws Error unless x is f32 or f64.
Tensor piecewise(Piecewise f, const Tensor& x, Numbers p);
/// g·f'(x), with broadcasting. Throws Error unless g and x have the same dtype, f32 or f64.
Tensor piecewise_gradient(Piecewise f, const Tensor& g, const Tensor& x, Numbers p);

/// The loss of each element, with broadcasting. Throws Error unless x and t have the same dtype,
/// f32 or f64.
Tensor loss(Loss f, const Tensor& x, const Tensor& t, Numbers p);
/// g·∂loss/∂x, with broadcasting. Throws Error unless all three have the same dtype, f32 or f64.
Tensor loss_gradient(Loss f, const Tensor& g, const Tensor& x, const Tensor& t, Numbers p);

}  // namespace ladon::kernels
