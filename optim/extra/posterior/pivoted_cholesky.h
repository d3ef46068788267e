#pragma once
// Low-rank approximation of a kernel from a few of its columns.

#include <cstdint>
#include <functional>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

struct PivotedCholeskyOptions {
  std::int64_t rank = 100;   ///< Maximum rank.
  double tolerance = 1e-10;  ///< Stops when trace(K − L·Lᵀ) ≤ tolerance·trace(K).
};

/// K ≈ L·Lᵀ of low rank, from K's diagonal and `rank` of its rows: each step selects the input with
/// the largest variance given those selected before (Harbrecht, Peters and Schneider 2012). The
/// remainder, K − L·Lᵀ, is the covariance given these inputs, and so is positive semi-definite.
class PivotedCholesky {
 public:
  /// diagonal [N]; row(i) returns row i of K, [N]. Takes O(N·rank²) operations besides computing
  /// the rows, and memory for N·rank numbers. Throws Error for another shape, and if a row and the
  /// diagonal disagree.
  PivotedCholesky(const Tensor& diagonal, const std::function<Tensor(std::int64_t)>& row,
                  const PivotedCholeskyOptions& options = {});

  std::int64_t rank() const { return static_cast<std::int64_t>(pivots_.size()); }
  /// The selected inputs, in order of selection.
  const std::vector<std::int64_t>& pivots() const { return pivots_; }
  Tensor factor() const;                 ///< L, [N, rank]
  double left() const { return left_; }  ///< trace(K − L·Lᵀ)

 private:
  std::vector<std::int64_t> pivots_;
  Tensor columns_;  // Lᵀ, [rank, N]
  double left_ = 0;
};

/// P = L·Lᵀ + σ²·I as a preconditioner (Gardner et al. 2018, "GPyTorch"), by Woodbury's identity:
/// P⁻¹ = (I − L·(σ²·I + LᵀL)⁻¹·Lᵀ)/σ². With a pivoted Cholesky factor L of K it is a lower bound, P
/// ⪯ K + σ²·I.
class LowRankPlusNoise {
 public:
  /// l [N, r], r ≥ 0; noise σ² > 0.
  LowRankPlusNoise(const Tensor& l, double noise);

  /// P⁻¹·B.   [N, k] → [N, k]
  Tensor solve(const Tensor& b) const;
  double log_determinant() const;

 private:
  Tensor l_;       // [N, r]
  Tensor factor_;  // Cholesky factor of σ²·I + LᵀL, [r, r]
  double noise_;
};

}  // namespace ladon
