#pragma once
// Sums over draws of softmax attention, pair by pair.

#include <functional>
#include <vector>

#include "ladon/layers/infinite/attention/features.h"
#include "ladon/layers/infinite/attention/pair_blocks.h"

namespace ladon::infinite {

/// Weights and tokens of a pair at some draws. Features are null where a pair has none.
struct DrawnPair {
  const double* p;
  InputWeights q;
  const double *left_tokens, *right_tokens;  ///< Φ [T, R] and Φ'ᵀ [R, T]
  const double *left_means = nullptr, *right_means = nullptr;
  const double *left_covariances = nullptr, *right_covariances = nullptr;
};

/// Tangent kernels of a pair as functions of its other kernels.
struct Upstream;

/// The moments of all pairs, [count, T, T] each; `tangent` may be null.
class PairSums {
 public:
  /// rank: R; same: whether k and v are the same kernel.
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
  std::vector<double> slope_k_, slope_t_;  // Σ J(k) and Σ J(t)
  std::vector<Upstream> upstream_;
};

}  // namespace ladon::infinite
