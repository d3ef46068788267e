#pragma once
// Kernels of heads with given logits, in differentiable operations. Internal to this folder.

#include "ladon/layers/infinite/attention/limit.h"

namespace ladon::infinite {

/// Σ_s weights_s·(moments of one head with logits s). Logits of the left and of the right sides
/// [S, P, Tq, Tk], with P broadcast; weights [S].
AttentionMoments sum_over_heads(const AttentionLimit& layer, const Seen& seen, const Pairs& values,
                                const Tensor& left, const Tensor& right, const Tensor& weights);

}  // namespace ladon::infinite
