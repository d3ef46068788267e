#pragma once
// Derivatives of saturating functions, as operations with derivatives of their own. Each is
// computed from x, in a form that nothing cancels in: 1 − y of a saturated y = f(x) has lost its
// digits.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// σ(x)·σ(−x), the derivative of the sigmoid.
Tensor sigmoid_slope(const Tensor& x);
/// 1 − tanh(x)².
Tensor tanh_slope(const Tensor& x);

}  // namespace ladon::detail
