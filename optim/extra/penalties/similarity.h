#pragma once
// Similarity of heads by their outputs, and the effective number of distinct heads. Two heads count
// as equal if the outputs of one are a rotation of the outputs of the other, although their weights
// differ.

#include "ladon/core/tensor.h"

namespace ladon {

struct CkaOptions {
  /// Whether to use unbiased estimates of the inner products ⟨K, L⟩ of Gram matrices (Song, Smola,
  /// Gretton, Bedo and Borgwardt 2012). Plain estimates are too large if there are few examples
  /// compared with features: unrelated features then look similar. For unrelated features unbiased
  /// estimates scatter around 0, and may be negative; they need at least 4 examples (otherwise
  /// Error).
  bool debiased = false;
};

/// Linear centred kernel alignment between the outputs of two heads, layers or models for the same
/// n examples: features x [n, p] and y [n, q] (Kornblith, Norouzi, Lee and Hinton 2019). With X and
/// Y centred,
///   ‖XᵀY‖²_F/(‖XᵀX‖_F·‖YᵀY‖_F) = ⟨K, L⟩/(‖K‖·‖L‖) with the Gram matrices K = XXᵀ, L = YYᵀ,
/// in [0, 1]: 1 if X is a rotation and multiple of Y, 0 if no feature of X correlates with a
/// feature of Y. The result is 0 if X or Y does not vary over examples. Not differentiable;
/// computed in f64. Throws Error for other shapes and dtypes, for n < 2, for values that are not
/// finite, and for features with a tangent of jvp or inside vmap.
double linear_cka(const Tensor& x, const Tensor& y, const CkaOptions& options = {});

/// linear_cka between all pairs of heads: contexts [B, H, T, d]
/// (MultiHeadAttention::forward_with_weights) → f64 [H, H], ones on the diagonal. The examples are
/// positions of sequences, except those excluded by `token_mask` (bool [B, T], true = token).
/// off_diagonal (diagnostics.h) of the result gives the mean similarity of heads. Not
/// differentiable: the result has no gradient. Throws Error where linear_cka does.
Tensor head_cka(const Tensor& contexts, const Tensor& token_mask = {},
                const CkaOptions& options = {});

/// Effective number of distinct items among H, from the matrix [H, H] of their similarities or
/// inner products. With p_i the eigenvalues λ_i divided by the trace, it is
///   exp(−Σ p_i ln p_i): the Vendi score (Friedman and Dieng 2023; there the diagonal is 1),
/// which is 1 if all items are equal, and H if they are orthogonal and of equal norm. An `order` q
/// > 1 uses Rényi's entropy instead, (Σ p_i^q)^(1/(1−q)), which gives rare directions less weight
/// (Pasarkar and Dieng 2024): q = 2 is the participation ratio (Σλ)²/Σλ², q = ∞ is trace/largest
/// eigenvalue. The matrix must be symmetric and positive semidefinite; only its lower triangle is
/// read. Throws Error for other shapes, values that are not finite, an eigenvalue that is clearly
/// negative (possible for a debiased CKA), trace 0, and order < 1.
double effective_number(const Tensor& similarity, double order = 1);

}  // namespace ladon
