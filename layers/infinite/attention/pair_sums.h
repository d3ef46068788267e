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
  const double* p;                           ///< P of the left input, [T, S, T]
  const double *q, *turned;                  ///< P' and P'ᵀ of the right input, [S, T, T]
  const double *left_tokens, *right_tokens;  ///< Φ [T, R] and Φ'ᵀ [R, T]
  const double *left_means = nullptr, *right_means = nullptr;
  const double *left_covariances = nullptr, *right_covariances = nullptr;
};

/// Linear relations between the kernels of a pair, such as t = α·k + β, by which fewer sums over
/// draws are needed; each may be absent.
struct Upstream;

/// Properties common to all blocks of a list of pairs.
struct PairForm {
  std::int64_t rank;  ///< R
  bool same_kernels;  ///< Whether k and v are the same.
  /// Whether the list has all pairs between a block of inputs and itself. Then only pairs (n, m)
  /// with n ≤ m are computed; the others are their transposes.
  bool upper_triangle;
};

/// Computes the AttentionMoments of all pairs of inputs as averages over draws. They are written to
/// `value` and `tangent`, [count, T, T] each; `tangent` may be null.
class PairSums {
 public:
  PairSums(const AttentionLimit& layer, const BlockList& blocks, const PairForm& form,
           double* value, double* tangent);
  ~PairSums();

  /// Adds `count` draws of every pair.
  void add(std::int64_t count, const std::function<DrawnPair(std::int64_t pair)>& drawn);
  /// Divides by the total number of draws.
  void finish(double count);

 private:
  const AttentionLimit& layer_;
  const BlockList& blocks_;
  PairForm form_;
  double *value_, *tangent_;
  std::vector<std::int64_t> pairs_;  // indices of the pairs that are computed
  // sums over draws of J(k) and J(t), the sums over softmax's Jacobians in draws.cpp
  std::vector<double> slope_k_, slope_t_;
  std::vector<Upstream> upstream_;  // one per element of pairs_
  bool begun_ = false;
};

}  // namespace ladon::infinite
