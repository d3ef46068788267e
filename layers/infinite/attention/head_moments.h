#pragma once
// Kernels of heads with given logits, in differentiable operations. Internal to this folder.

#include "ladon/layers/infinite/attention/limit.h"

namespace ladon::infinite {

/// Weighted sum of AttentionMoments over S heads, Σ_s weights_s·(moments of head s), weights [S].
/// `left` and `right` are the logits for the left and right inputs of the pairs, [S, P, Tq, Tk],
/// with P broadcast.
AttentionMoments sum_over_heads(const AttentionLimit& layer, const Seen& seen, const Pairs& values,
                                const Tensor& left, const Tensor& right, const Tensor& weights);

}  // namespace ladon::infinite
