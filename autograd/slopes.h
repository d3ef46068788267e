#pragma once
// Derivatives of saturating functions, as differentiable operations. Each is computed from x, in a
// form without cancellation: 1 − y for a saturated y = f(x) has lost its digits.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// σ(x)·σ(−x), the derivative of the sigmoid.
Tensor sigmoid_slope(const Tensor& x);
/// 1 − tanh(x)².
Tensor tanh_slope(const Tensor& x);

}  // namespace ladon::detail
