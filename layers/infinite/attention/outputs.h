#pragma once
// Kernels of attention's outputs from the moments of its heads. Internal to this folder.

#include "ladon/layers/infinite/attention/limit.h"

namespace ladon::infinite {

/// NNGP = S + σ_b² with S = OV²·value and, if there is an NTK, NTK = OV²·tangent +
/// value_output_trained·S + bias_trained (see AttentionLimit).
PairKernels attention_outputs(const AttentionLimit& layer, const AttentionMoments& m);

}  // namespace ladon::infinite
