#pragma once
// Similarity of heads by their outputs, and their effective number. Compared by outputs, a head and
// a rotation of it are equal, which distances between weights do not show.

#include "ladon/core/tensor.h"

namespace ladon {

struct CkaOptions {
  /// Use unbiased estimates of the scalar products (Song, Smola, Gretton, Bedo and Borgwardt 2012).
  /// Plain estimates are too large if there are few examples compared with features: unrelated
  /// features then look similar. Unbiased estimates scatter around 0, and may be negative; they
  /// need at least 4 examples (Error).
  bool debiased = false;
};

/// Linear centred kernel alignment between the outputs of two heads, layers or models for the same
/// n examples: features x [n, p] and y [n, q] (Kornblith, Norouzi, Lee and Hinton 2019). With X and
/// Y centred,
///   ‖XᵀY‖²_F/(‖XᵀX‖_F·‖YᵀY‖_F) = ⟨K, L⟩/(‖K‖·‖L‖) with the Gram matrices K = XXᵀ, L = YYᵀ,
/// in [0, 1]: 1 if one is a rotation and multiple of the other, 0 if no feature of one correlates
/// with one of the other. Features that do not vary over examples have 0 with all others. Not
/// differentiable; f64. Throws Error for other shapes and dtypes, for n < 2, and for values that
/// are not finite.
double linear_cka(const Tensor& x, const Tensor& y, const CkaOptions& options = {});

/// linear_cka between all pairs of heads: contexts [B, H, T, d]
/// (MultiHeadAttention::forward_with_weights) → f64 [H, H], ones on the diagonal. The examples are
/// positions of sequences, except those excluded by `token_mask` (bool [B, T], true = token).
/// off_diagonal (diagnostics.h) of the result gives the heads' mean redundancy. Errors as
/// linear_cka.
Tensor head_cka(const Tensor& contexts, const Tensor& token_mask = {},
                const CkaOptions& options = {});

/// Effective number of distinct items among H, from their similarities or scalar products [H, H].
/// With p_i the eigenvalues divided by the trace, it is
///   exp(−Σ p_i ln p_i): the Vendi score (Friedman and Dieng 2023; there the diagonal is 1),
/// 1 for equal items, H for orthogonal ones of equal norm. Another `order` q > 1 uses Rényi's
/// entropy instead, (Σ p_i^q)^(1/(1−q)), which gives rare directions less weight (Pasarkar and
/// Dieng 2024): 2 is the participation ratio (Σλ)²/Σλ², ∞ is trace/largest eigenvalue. The matrix
/// must be symmetric and positive semidefinite; only its lower triangle is read. Throws Error for
/// other shapes, values that are not finite, an eigenvalue that is clearly negative (possible for a
/// debiased CKA), trace 0, and order < 1.
double effective_number(const Tensor& similarity, double order = 1);

}  // namespace ladon
