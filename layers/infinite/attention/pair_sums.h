#pragma once
// Sums over draws of softmax attention, pair by pair.

#include <functional>
#include <vector>

#include "ladon/layers/infinite/attention/features.h"
#include "ladon/layers/infinite/attention/pair_blocks.h"

namespace ladon::infinite {

/// Attention weights of a pair of inputs at some draws, p of the left input and q of the right one,
/// with their tokens' coordinates and their features (features.h). Features are null if the pair
/// has none.
struct DrawnPair {
  const double* p;
  InputWeights q;
  const double *left_tokens, *right_tokens;  ///< Φ [T, R] and Φ'ᵀ [R, T]
  const double *left_means = nullptr, *right_means = nullptr;
  const double *left_covariances = nullptr, *right_covariances = nullptr;
};

/// Linear relations of a pair's tangent kernels to its other kernels, where they exist.
struct Upstream;

/// Sums over draws of the AttentionMoments of all pairs, [count, T, T] each; `tangent` may be null.
class PairSums {
 public:
  /// rank: number R of coordinates; same: whether the kernels k and v are the same.
  PairSums(const AttentionLimit& layer, const BlockList& blocks, std::int64_t rank, bool same,
           double* value, double* tangent);
  ~PairSums();

  /// Adds `count` draws of every pair.
  void add(std::int64_t count, const std::function<DrawnPair(std::int64_t pair)>& drawn);
  /// Divides by the total number of draws.
  void finish(double count);

 private:
  const AttentionLimit& layer_;
  const BlockList& blocks_;
  std::int64_t rank_;
  bool same_;
  double *value_, *tangent_;
  std::vector<double> slope_k_, slope_t_;  // Σ J(k) and Σ J(t), see pair_sums.cpp
  std::vector<Upstream> upstream_;
};

}  // namespace ladon::infinite
