#pragma once
// Softmax. A row that is −∞ throughout (all masked) gives zeros, forward and backward, never NaN.

#include "ladon/core/tensor.h"

namespace ladon {

/// y_ij = exp(x_ij) / Σ_k exp(x_ik) along `axis`.   x: any shape, floating point.
Tensor softmax(const Tensor& x, int axis = -1);
/// ln softmax, computed as x − logsumexp(x). An all-masked row gives −∞, with gradient 0.
Tensor log_softmax(const Tensor& x, int axis = -1);

}  // namespace ladon
