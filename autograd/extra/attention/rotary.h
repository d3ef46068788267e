#pragma once
// Rotary position embedding.

#include "ladon/core/tensor.h"

namespace ladon {

/// Rotates pairs of channels by angles (Su et al. 2021, "RoFormer"): (u, v) → (u·cos − v·sin, v·cos
/// + u·sin). x [.., T, d] for T positions; cos and sin [.., T, r/2], which broadcast, have one
/// angle per position and pair. Of the d channels the first r ≤ d are rotated; the others are
/// unchanged. Channel i < r/2 is paired with channel i + r/2, or, if `interleaved`, channel 2i with
/// 2i + 1. Throws Error if shapes do not fit.
Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin,
                        bool interleaved = false);

}  // namespace ladon
