#pragma once
// Softmax. A row of −∞ only (all masked) gives zeros, forward and backward, never NaN. A single +∞
// in a row gets probability 1, which is the limit; several +∞ give NaN, since their ratio is
// unknown. Small probabilities keep their relative accuracy even if another probability of the row
// is close to 1; gradients sum to 0 over the row.

#include "ladon/core/tensor.h"

namespace ladon {

/// y_ij = exp(x_ij) / Σ_k exp(x_ik) along `axis`.   x: any shape, floating point.
Tensor softmax(const Tensor& x, int axis = -1);
/// ln softmax, computed as x − logsumexp(x). An all-masked row gives −∞, with gradient 0.
Tensor log_softmax(const Tensor& x, int axis = -1);

namespace detail {
/// The gradient of x in public operations, y ∘ (g − ⟨g, y⟩), where y = softmax(x, axis) and g is
/// the gradient of y. It is accurate even where an element of y is close to 1.
Tensor softmax_gradient(const Tensor& g, const Tensor& y, int axis);
}  // namespace detail

}  // namespace ladon
