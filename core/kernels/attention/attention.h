#pragma once
// Attention in tiles that stay in cache: logits, softmax and weighted sum of a tile are computed
// before the next tile, and the backward pass recomputes them (Dao et al. 2022; Rabe and Staats
// 2021). Second derivatives are not supported: see autograd/ops/attention.h.

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

struct AttentionSettings {
  Tensor mask = {};  ///< Boolean, true where the query attends to the key; or of q's dtype, and
                     ///< added to the logits. Broadcasts to [.., H, Tq, Tk] (heads, queries, keys).
  bool causal = false;
  std::int64_t causal_offset = 0;  ///< If causal, query i sees keys ≤ i + causal_offset.
  double scale = 1;                ///< Factor of the logits.
  double softcap = 0;              ///< If c = softcap > 0, logits become c·tanh(logits/c).
};

/// Result of attention for queries q [.., H, Tq, d], keys k [.., Hkv, Tk, d] and values
/// v [.., Hkv, Tk, dv] of one floating dtype, with any strides. Leading axes broadcast; the number
/// of heads H is a multiple of Hkv. output [.., H, Tq, dv] is a view of [.., Tq, H, dv] if q is
/// such a view. log_sum [.., H, Tq] is log₂ Σ exp(logits) per query, and +∞ for a query that sees
/// no key (its output is 0); it is undefined if neither q nor the output has elements.
struct AttentionOutput {
  Tensor output, log_sum;
};
AttentionOutput attention(const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttentionSettings& settings);

/// Gradients of ⟨g, output⟩ with respect to q, k and v. They have all leading axes broadcast, and
/// each has the memory layout of its input.
struct AttentionGradients {
  Tensor q, k, v;
};
AttentionGradients attention_backward(const Tensor& g, const Tensor& q, const Tensor& k,
                                      const Tensor& v, const AttentionOutput& forward,
                                      const AttentionSettings& settings);

}  // namespace ladon::kernels
