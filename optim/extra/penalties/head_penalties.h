#pragma once
// Baselines to compare particle repulsion with: differentiable loss terms that make the outputs of
// heads differ. (cosine_penalty.h penalizes similar weights.)
//
//   const auto details = attention.forward_with_weights(x, x, x);
//   backward(loss + 0.1 * disagreement_penalty(details.contexts));
//
// All penalties are averages over examples and positions. Positions excluded by `mask` (bool [B,
// T], true = token) are left out; if all are excluded, the penalty is 0. All functions throw Error
// for other shapes and dtypes.

#include "ladon/core/tensor.h"

namespace ladon {

/// ‖A·Aᵀ − I‖²_F of the attention weights A [H, Tk] of all heads for one query, averaged over
/// queries: maps [B, H, Tq, Tk] → a scalar ≥ 0. It is 0 if each head attends to a single key and no
/// two heads attend to the same key. In the sentence model of Lin et al. 2017 ("A structured
/// self-attentive sentence embedding") heads are called hops, and there is one query per sentence:
/// Tq = 1.
Tensor frobenius_penalty(const Tensor& maps, const Tensor& mask = {});

/// Mean cosine cos(x_h, x_g) over pairs of heads h < g at the same position: x [B, H, T, d] → a
/// scalar in [−1/(H−1), 1]; 0 for one head. A zero vector has cosine 0 and gets no gradient.
///
/// If x are the heads' values (in self-attention matmul(unsqueeze(x, 1), transpose(layer.value))),
/// this is the subspace disagreement of Li, Tu, Yang, Lyu and Zhang 2018 ("Multi-head attention
/// with disagreement regularization"); if x are the heads' contexts, it is their output
/// disagreement. Li et al. maximize minus the mean over all H² pairs, including each head with
/// itself, D = −[(H − 1)·penalty + 1]/H.
Tensor disagreement_penalty(const Tensor& x, const Tensor& mask = {});

/// Mean over pairs of heads h < g of Σ_k A_hk·A_gk, the overlap of their attention weights A [H,
/// Tk] for one query: maps [B, H, Tq, Tk] → a scalar, in [0, 1] for rows that sum to 1; 0 for one
/// head. This is the position disagreement of Li et al. without the pairs of a head with itself,
/// which would reward a head for attending to all keys.
Tensor overlap_penalty(const Tensor& maps, const Tensor& mask = {});

}  // namespace ladon
