#pragma once
// Kernels of attention's outputs from the moments of its heads. Internal to this folder.

#include "ladon/layers/infinite/attention/limit.h"

namespace ladon::infinite {

/// NNGP = S + σ_b² and, where there is an NTK, NTK = OV²·tangent + trained·S + the output bias',
/// S = OV²·value (limit.h).
PairKernels attention_outputs(const AttentionLimit& layer, const AttentionMoments& m);

}  // namespace ladon::infinite
