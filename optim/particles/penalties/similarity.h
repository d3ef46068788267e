#pragma once
// Do heads compute the same, and how many do really? Compared by what they compute, heads are alike
// also where one is a rotation of the other, which the distances of their weights do not see.

#include "ladon/core/tensor.h"

namespace ladon {

struct CkaOptions {
  /// Estimates both scalar products without bias (Song, Smola, Gretton, Bedo and Borgwardt 2012).
  /// The plain ones are too large where there are few examples beside the features: unrelated
  /// features then look alike. Unbiased ones scatter around 0, and may be negative; they need 4
  /// examples (Error).
  bool debiased = false;
};

/// Linear centred kernel alignment of what two heads, layers or models compute for the same n
/// examples: features x [n, p] and y [n, q] (Kornblith, Norouzi, Lee and Hinton 2019). With X and Y
/// centred,
///   ‖XᵀY‖²_F/(‖XᵀX‖_F·‖YᵀY‖_F) = ⟨K, L⟩/(‖K‖·‖L‖) of their Gram matrices K = XXᵀ, L = YYᵀ,
/// in [0, 1]: 1 where one is a rotation and multiple of the other, 0 where no feature of one
/// correlates with one of the other. Features that do not vary over examples have 0 with all. No
/// gradients; f64. Throws Error for other shapes and dtypes, for n < 2, and for values that are not
/// finite.
double linear_cka(const Tensor& x, const Tensor& y, const CkaOptions& options = {});

/// linear_cka between all heads: contexts [B, H, T, d] (MultiHeadAttention::forward_with_weights) →
/// f64 [H, H], ones on the diagonal. An example is a position of a sequence; those that
/// `token_mask` (bool [B, T], true = token) leaves out do not count. off_diagonal (diagnostics.h)
/// of it has the heads' mean redundancy. Errors as linear_cka.
Tensor head_cka(const Tensor& contexts, const Tensor& token_mask = {},
                const CkaOptions& options = {});

/// Effective number of different ones among H, by a matrix [H, H] of their similarities or scalar
/// products: with p_i the eigenvalues, divided by the trace,
///   exp(−Σ p_i ln p_i): the Vendi score (Friedman and Dieng 2023; there the diagonal is 1),
/// 1 for equal ones, H for orthogonal ones of equal size. Another `order` q > 1 gives Rényi's
/// entropy in its place, (Σ p_i^q)^(1/(1−q)), which counts rare directions less (Pasarkar and Dieng
/// 2024): 2 is the participation ratio (Σλ)²/Σλ², ∞ is trace/largest eigenvalue. Symmetric and
/// positive semidefinite; only the lower triangle is read. Throws Error for other shapes, values
/// that are not finite, an eigenvalue that is clearly negative (a debiased CKA may have one), trace
/// 0, and for order < 1.
double effective_number(const Tensor& similarity, double order = 1);

}  // namespace ladon
