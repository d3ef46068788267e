#pragma once
// What stands in padding does not count in a layer that is told of a mask.

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// Shape of a mask of x, [N, positions], for x [N, positions.., d] or indices [N, positions..];
/// x has at least one axis of positions.
Shape mask_shape(const Tensor& x);

/// x with 0 at masked places, where `mask` (bool [N, positions]) is false: for floating x [N, ..,
/// d] and indices i64 [N, T]. Whatever stood there would make gradients of weights NaN wherever a
/// layer turns it into ∞ (exp of 100, products of NaN), since 0·∞ is NaN. Outputs at padding are
/// those of zeros, as they are where attention's limit meets padding. Returns x itself without a
/// mask, where padding is 0 already, and for a mask of a wrong shape, which the layer then refuses.
///
/// Done by what computes within each position, which may be any function, and by products.
Tensor blank_masked(const Tensor& x, const Tensor& mask);
/// The same, but only of numbers that are not finite or so large that their squares may overflow,
/// and of indices: attention, linear maps and norms make no infinity of others, and outputs at
/// padded queries stay those of what stands there, as in PyTorch. layer(x, mask) does it for every
/// layer, whoever calls it: only so does it hold in models that users write. What takes a mask in
/// another way (AttentionMask, a cache, a memory) calls it itself.
Tensor blank_odd_masked(const Tensor& x, const Tensor& mask);

}  // namespace ladon::detail
