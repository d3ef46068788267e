#pragma once
// In-place edits of tensors outside the graph: parameters in an optimizer, buffers, gradients. If x
// or y records history the functions throw Error, except under NoGrad; the operators at the end are
// documented below. Each edit increments the version of the storage, which backward checks.

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

/// x ← x + y and so on, y broadcast to x's shape; x keeps its dtype (Error for a floating result in
/// an integer tensor). If nothing is recorded the elements are edited in place, visibly to every
/// tensor that shares them:
///   { NoGrad no_grad;  weight -= lr * weight.grad(); }
/// If x or y records history, x becomes the recorded result instead, as by x = x + y (total +=
/// loss); tensors that share x's old elements keep them. A leaf cannot be replaced in this way:
/// Error.
Tensor& operator+=(Tensor& x, const Tensor& y);
Tensor& operator-=(Tensor& x, const Tensor& y);
Tensor& operator*=(Tensor& x, const Tensor& y);
Tensor& operator/=(Tensor& x, const Tensor& y);
Tensor& operator+=(Tensor& x, double s);
Tensor& operator-=(Tensor& x, double s);
Tensor& operator*=(Tensor& x, double s);
Tensor& operator/=(Tensor& x, double s);

}  // namespace ladon
