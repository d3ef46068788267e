#pragma once
// Derivatives of saturating functions, as differentiable operations. Each is computed from x and
// not from y = f(x), because 1 − y has lost its digits where y is close to 1.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// σ(x)·σ(−x), the derivative of the sigmoid.
Tensor sigmoid_slope(const Tensor& x);
/// 1 − tanh(x)², the derivative of tanh.
Tensor tanh_slope(const Tensor& x);

}  // namespace ladon::detail
