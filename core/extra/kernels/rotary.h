#pragma once
// Rotation of pairs of channels. No gradients are recorded: see autograd/extra/attention/rotary.h.

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// Pairs (u, v) of the first r channels become (u·cos − v·sin, v·cos + u·sin); the other channels
/// are copied. If `interleaved`, pair i consists of channels 2i and 2i + 1; if not, of channels i
/// and r/2 + i. x is [.., T, d], cos and sin are [.., T, r/2], and leading axes broadcast. Throws
/// Error unless all three have the same dtype, f32 or f64.
Tensor rotate_pairs(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved);

}  // namespace ladon::kernels
