#pragma once
// What stands in padding does not count in a model that is told of a mask.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// x [N, .., d] where mask (bool [N, positions], true = token) is false with 0 in the place of what
/// is not finite, or so large that its square may not be; of indices i64 [N, T] with 0 for all: so
/// no bits of padding, NaN or an index that does not exist, reach outputs at tokens or gradients of
/// weights, in which 0·NaN would be NaN. (Ordinary numbers cannot, and padding asks as ever.) It is
/// done where a model begins, in the outermost call. x itself without a mask, and for a mask that
/// does not fit, which the layer tells by itself.
Tensor blank_masked(const Tensor& x, const Tensor& mask);

/// Whether the layer that runs on this thread was called by another one.
bool in_another_layer();

}  // namespace ladon::detail
