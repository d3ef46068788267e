#pragma once
// What stands in padding does not count in a layer that is told of a mask.

#include <functional>

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// Shape of a mask of x, [N, positions], for x [N, positions.., d] or indices [N, positions..];
/// x has at least one axis of positions.
Shape mask_shape(const Tensor& x);

/// x with 0 at masked places, where `mask` (bool [N, positions]) is false: for floating x [N, ..,
/// d] only where the number is not finite or so large that its square may overflow, for indices i64
/// [N, T] everywhere. Without it NaN in padding would make gradients of weights NaN, since 0·NaN is
/// NaN. Returns x itself without a mask, where there is nothing to replace, and for a mask of a
/// wrong shape, which the layer then refuses.
///
/// layer(x, mask) does it for every layer, whoever calls it: only so does it hold in models that
/// users write. What takes a mask in another way (AttentionMask, a cache, a memory) calls it
/// itself. Other numbers stay, so that outputs at padding are those of what stands there, as in
/// PyTorch.
Tensor blank_masked(const Tensor& x, const Tensor& mask);

/// f(x), where f acts within each position [N, .., d]; and where its padding then holds such a
/// number, of which gradients would be NaN (exp of 100, a product of three), f of 0 there. A slope
/// that is infinite at a finite output, as that of sqrt at 0, is not seen.
Tensor settled(const std::function<Tensor(const Tensor& x)>& f, const Tensor& x,
               const Tensor& mask);

}  // namespace ladon::detail
