#pragma once
// Baselines to compare repulsion with: loss terms, in recorded operations, that make the outputs of
// heads differ. (cosine_penalty.h penalizes similar weights.)
//
//   const auto details = attention.forward_with_weights(x, x, x);
//   backward(loss + 0.1 * disagreement_penalty(details.contexts));
//
// All average over examples and positions. Positions excluded by `mask` (bool [B, T], true = token)
// do not count, and if none is left the penalty is 0. Throw Error for other shapes and dtypes.

#include "ladon/core/tensor.h"

namespace ladon {

/// ‖A·Aᵀ − I‖²_F of the attention weights A [H, Tk] of all heads for one query, averaged: maps [B,
/// H, Tq, Tk] → a scalar ≥ 0, which is 0 if each head attends to one key and no two to the same. In
/// the sentence model of Lin et al. 2017 ("A structured self-attentive sentence embedding") heads
/// are called hops, and there is one query per sentence: Tq = 1.
Tensor frobenius_penalty(const Tensor& maps, const Tensor& mask = {});

/// The mean over pairs of heads h < g of cos(x_h, x_g) at the same position: x [B, H, T, d] → a
/// scalar in [−1/(H−1), 1]. A zero vector has cosine 0 and gets no gradient. 0 for one head.
///
/// For the heads' values (in self-attention matmul(unsqueeze(x, 1), transpose(layer.value))) it is
/// the subspace disagreement of Li, Tu, Yang, Lyu and Zhang 2018 ("Multi-head attention with
/// disagreement regularization"), for their contexts the output disagreement. The paper maximizes a
/// mean over all H² pairs, including each head with itself: D = −[(H − 1)·penalty + 1]/H.
Tensor disagreement_penalty(const Tensor& x, const Tensor& mask = {});

/// The mean over pairs of heads h < g of Σ_k A_hk·A_gk, the overlap of their attention for one
/// query: maps [B, H, Tq, Tk] → a scalar, in [0, 1] for rows that sum to 1. 0 for one head. The
/// position disagreement of Li et al. without the pairs of a head with itself, which would reward a
/// head for attending everywhere.
Tensor overlap_penalty(const Tensor& maps, const Tensor& mask = {});

}  // namespace ladon
