#pragma once
// Rotary position embedding.

#include "ladon/core/tensor.h"

namespace ladon {

/// Rotates pairs of channels by angles (Su et al. 2021, "RoFormer"): (u, v) → (u·cos − v·sin, v·cos
/// + u·sin). x [.., T, d]; cos and sin [.., T, r/2], broadcast, r ≤ d; channels from r on are
/// unchanged. Channel i is paired with i + r/2, or, interleaved, 2i with 2i + 1. Throws Error where
/// shapes do not fit.
Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin,
                        bool interleaved = false);

}  // namespace ladon
