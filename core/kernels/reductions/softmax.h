#pragma once
// Softmax family along one axis. A row that is −∞ throughout gives zeros (softmax) and −∞ (the
// others), never NaN; an empty axis gives an empty tensor (softmax) or −∞ (logsumexp).

#include "ladon/core/tensor.h"

namespace ladon::kernels {

Tensor softmax(const Tensor& x, int axis);
Tensor log_softmax(const Tensor& x, int axis);
/// [.., n, ..] → [.., 1, ..] (kept).
Tensor logsumexp(const Tensor& x, int axis);
/// y ∘ (g − ⟨g, y⟩) along the axis: the gradient of softmax in one pass.
Tensor softmax_backward(const Tensor& g, const Tensor& y, int axis);
/// g − exp(y)·Σg along the axis: the gradient of log_softmax in one pass; 0 where all of y is −∞.
Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int axis);

}  // namespace ladon::kernels
