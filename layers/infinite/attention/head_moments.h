#pragma once
// Kernels of heads of given logits, in differentiable operations. Internal to this folder.

#include "ladon/layers/infinite/attention/limit.h"

namespace ladon::infinite {

/// Σ_s weights_s·(the moments of one head with the logits of number s). Logits of the left sides
/// and of the right ones [S, P, Tq, Tk], their P broadcast; weights [S].
AttentionMoments sum_over_heads(const AttentionLimit& layer, const Seen& seen, const Pairs& values,
                                const Tensor& left, const Tensor& right, const Tensor& weights);

}  // namespace ladon::infinite
