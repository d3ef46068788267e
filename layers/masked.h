#pragma once
// Keeps NaN, ∞ and huge numbers in padding out of layers that are called with a mask.

#include <functional>
#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// Shape [N, positions] of a mask for x, where x is [N, positions.., d] or indices [N, positions..]
/// and has at least one axis of positions.
Shape mask_shape(const Tensor& x);

/// Returns x with elements at masked positions, where `mask` (bool [N, positions]) is false,
/// replaced by 0. In floating x [N, .., d], only elements that are not finite, or so large that
/// their square may overflow, are replaced; in indices i64 [N, T], all masked elements are. Without
/// this, NaN in padding would make gradients of weights NaN, since 0·NaN is NaN. Returns x itself
/// if there is no mask or nothing to replace, and for a mask of a wrong shape, which the layer then
/// rejects.
///
/// layer(x, mask) calls it for every layer, user-written ones too. Code that takes a mask in
/// another way (AttentionMask, a cache, a memory) calls it itself. Other padding values stay, so
/// outputs at padding are computed from them, as in PyTorch.
Tensor blank_masked(const Tensor& x, const Tensor& mask);

/// A mask (bool [N, positions]) reshaped to broadcast over x [N, .., d]: [N, .., 1]. Throws Error
/// naming `operation` if the mask does not fit x.
Tensor spread_mask(std::string_view operation, const Tensor& x, const Tensor& mask);
/// x [N, .., d] with zeros where mask (bool [N, positions], true = token) is false; x itself
/// without a mask. Throws Error naming `operation` for a mask that does not fit.
Tensor zero_masked(std::string_view operation, const Tensor& x, const Tensor& mask);

/// f(x) for an f that acts on each position of x [N, .., d] separately. Where its output at padding
/// is NaN, ∞ or huge (exp(100), a product of three factors), which could make gradients NaN, the
/// result is recomputed with 0 as input at that padding. An infinite slope at a finite output, such
/// as that of sqrt at 0, is not detected.
Tensor settled(const std::function<Tensor(const Tensor& x)>& f, const Tensor& x,
               const Tensor& mask);

}  // namespace ladon::detail
