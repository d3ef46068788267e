#pragma once
// In-place edits, for what stands outside the graph: parameters in an optimizer, buffers,
// gradients. Where x or y records history they throw Error unless under NoGrad. Each counts as a
// new version of the storage, which backward checks.

#include "ladon/core/tensor.h"

namespace ladon {

/// x ← value.
void fill_(Tensor x, double value);
/// x ← y, broadcast and cast.
void copy_(Tensor x, const Tensor& y);
/// x ← x + alpha·y, y broadcast.
void add_(Tensor x, const Tensor& y, double alpha = 1);
/// x ← s·x.
void scale_(Tensor x, double s);
/// x ← x∘y, y broadcast.
void mul_(Tensor x, const Tensor& y);

}  // namespace ladon
