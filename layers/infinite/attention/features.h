#pragma once
// Features of single inputs at given draws. The AttentionMoments of a pair of inputs are inner
// products of such features.
//
// Features exist if queries, keys and values see the same tokens, and if the coordinates Φ that all
// inputs share (kernel/roots.h) give their kernels exactly, k = v = Φ·Φ'ᵀ. Let φ_c be row c of Φ,
// the coordinates of token c. For one draw of the weights P let φ̄_a = Σ_c P_ac·φ_c and C_a = Σ_c
// P_ac·φ_c·φ_cᵀ − φ̄_a·φ̄_aᵀ be the mean and the covariance of the tokens that query a attends to.
// Then
//   (P·v·P'ᵀ)_ab = ⟨φ̄_a, φ̄'_b⟩,
// and J(k)_ab, the sum over softmax's Jacobians that draws.cpp defines, is ⟨C_a, C'_b⟩. The
// symmetric C_a is stored as R·(R + 1)/2 numbers; those off its diagonal are multiplied by √2.

#include "ladon/layers/infinite/attention/logits.h"

namespace ladon::infinite {

/// F features of each token of a block of inputs at S draws: [T, S, F] for inputs on the left of
/// their pairs, [S, F, T] for inputs on the right, so that the sum over the draws of a pair is one
/// matrix product.
class DrawFeatures {
 public:
  /// Computes the means φ̄ and, if `covariances`, the covariances C of the tokens that each query
  /// attends to, from the attention weights of the block's inputs, which are on the left or the
  /// right of their pairs (`side`).
  DrawFeatures(const LogitDraws& draws, const DrawnWeights& weights, Sides side,
               std::int64_t positions, std::int64_t count, bool covariances);

  const double* means(std::int64_t input) const { return of(means_, input); }
  const double* covariances(std::int64_t input) const { return of(covariances_, input); }

 private:
  static const double* of(const Tensor& x, std::int64_t input) {
    return x.data<double>() + input * x.size(1);
  }

  Tensor means_, covariances_;  // [N, T·S·F]
};

/// Number of elements that store a symmetric matrix [R, R].
inline std::int64_t covariance_size(std::int64_t rank) { return rank * (rank + 1) / 2; }

}  // namespace ladon::infinite
