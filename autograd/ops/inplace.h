#pragma once
// In-place edits of tensors outside the graph: parameters in an optimizer, buffers, gradients. The
// functions throw Error if x or y records history, except under NoGrad. (For the operators see
// below.) Each edit increments the version of the storage, so that backward() detects edits of
// tensors that it needs.

#include "ladon/core/tensor.h"

namespace ladon {

/// x ← value.
void fill_(Tensor x, double value);
/// x ← y, broadcast and cast.
void copy_(Tensor x, const Tensor& y);
/// x ← x + alpha·y, y broadcast.
void add_(Tensor x, const Tensor& y, double alpha = 1);
/// x ← x∘y, y broadcast.
void mul_(Tensor x, const Tensor& y);
/// x ← s·x.
void mul_(Tensor x, double s);

/// x ← x + y, x − y, x∘y and x/y, with y broadcast to x's shape. x keeps its dtype; throws Error if
/// x holds integers and the result is floating. If neither x nor y records history, the elements
/// are edited in place, visibly to every tensor that shares them:
///   { NoGrad no_grad;  weight -= lr * weight.grad(); }
/// If x or y records history, x becomes the recorded result instead, as by x = x + y (for example
/// total += loss), and tensors that share the old elements of x keep them. Throws Error if x is a
/// leaf that requires a gradient.
Tensor& operator+=(Tensor& x, const Tensor& y);
Tensor& operator-=(Tensor& x, const Tensor& y);
Tensor& operator*=(Tensor& x, const Tensor& y);
Tensor& operator/=(Tensor& x, const Tensor& y);
Tensor& operator+=(Tensor& x, double s);
Tensor& operator-=(Tensor& x, double s);
Tensor& operator*=(Tensor& x, double s);
Tensor& operator/=(Tensor& x, double s);

}  // namespace ladon
