#pragma once
// Scaled dot-product attention.

#include <cstdint>
#include <optional>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// A boolean mask is true where a query may attend to a key; a floating mask is added to the
/// logits. A query that may attend to no key gives zeros, forward and backward, never NaN.
struct AttentionOptions {
  Tensor mask = {};     ///< bool or floating, broadcast to [.., heads, Tq, Tk]; a floating mask may
                        ///< require a gradient (attention is then not fused).
  bool causal = false;  ///< Query i attends only to keys at positions ≤ i + causal_offset.
  std::int64_t causal_offset = 0;    ///< Number of keys before the first query (a cache's length);
                                     ///< read only if causal. Throws Error if it is set without
                                     ///< causal, unless there is a mask or a single query.
  std::optional<double> scale = {};  ///< Factor of the logits; default 1/sqrt(head_dim).
  double softcap = 0;                ///< If c > 0, logits become c·tanh(logits/c), before masking.
  double dropout = 0;                ///< Probability of dropping an attention weight.
  Generator* rng = nullptr;          ///< For dropout. Throws Error if null and dropout > 0.
};

/// Returns softmax(scale·Q·Kᵀ + mask)·V. For H query heads, Hkv key and value heads, Tq queries and
/// Tk keys: q [.., H, Tq, d], k [.., Hkv, Tk, d], v [.., Hkv, Tk, dv] → [.., H, Tq, dv]; leading
/// axes are equal or broadcast. H is a multiple of Hkv: query head h uses key head ⌊h/(H/Hkv)⌋
/// (grouped-query attention). Without dropout, second derivatives or a mask that requires a
/// gradient it runs fused, in tiles, and never stores the Tq × Tk matrix (Dao et al. 2022; Rabe and
/// Staats 2021). The fused form and the form that stores the matrix have the same gradients up to
/// rounding.
///
/// A key or value that is NaN or ∞ affects only the queries that may see it. A query that is NaN or
/// sees NaN affects no gradient if the gradient of its own output is 0, as for a position that the
/// loss does not use. One difference between the two forms is left: if the loss uses the output of
/// such a query, in any example of the batch, gradients that do not depend on that query are finite
/// in the fused form, but may be NaN in the form that stores the matrix (which is used for dropout,
/// second derivatives, gradients per example, create_graph and attention_with_weights). Elements
/// beyond 2⁶⁰ in f32, or 2⁵⁰⁰ in f64, are treated like NaN: if a query has or sees one, and the
/// gradient of its output is 0, that gradient is not propagated further, nor are its derivatives.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});

/// scaled_dot_product_attention() that also returns the weights [.., H, Tq, Tk] before dropout (the
/// whole matrix is stored). Both results are differentiable.
struct AttentionResult {
  Tensor output, weights;
};
AttentionResult attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const AttentionOptions& options = {});

}  // namespace ladon
