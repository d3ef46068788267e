#pragma once
// In-place edits, for what stands outside the graph: parameters in an optimizer, buffers,
// gradients. Where x or y records history they throw Error unless under NoGrad; the operators at
// the end tell what they do then. Each counts as a
// new version of the storage, which backward checks.

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
/// an integer). Where nothing is recorded the elements are edited in place, as whoever shares them
/// sees:
///   { NoGrad no_grad;  weight -= lr * weight.grad(); }
/// If x or y records history, x is given the recorded result instead, as by x = x + y
/// (total += loss); others that share x's elements keep the old ones. A leaf is never lost so:
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
