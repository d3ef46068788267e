#pragma once
// Softmax and related functions along one axis. A row whose elements are all −∞ gives zeros
// (softmax) or −∞ (log_softmax, logsumexp), never NaN; an empty axis gives an empty tensor
// (softmax, log_softmax) or −∞ (logsumexp).

#include "ladon/core/tensor.h"

namespace ladon::kernels {

Tensor softmax(const Tensor& x, int axis);
Tensor log_softmax(const Tensor& x, int axis);
/// [.., n, ..] → [.., 1, ..]: the axis is kept with size 1.
Tensor logsumexp(const Tensor& x, int axis);
/// y ∘ (g − ⟨g, y⟩) along the axis: the gradient of softmax in one pass.
Tensor softmax_backward(const Tensor& g, const Tensor& y, int axis);
/// g − exp(y)·Σg along the axis: the gradient of log_softmax in one pass; 0 where all of y is −∞.
Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int axis);

}  // namespace ladon::kernels
