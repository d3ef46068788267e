#pragma once
// A few columns of a kernel that explain most of it.

#include <cstdint>
#include <functional>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

struct PivotedCholeskyOptions {
  std::int64_t rank = 100;   ///< At most.
  double tolerance = 1e-10;  ///< Ends where trace(K − L·Lᵀ) ≤ tolerance·trace(K).
};

/// K ≈ L·Lᵀ of low rank, from K's diagonal and `rank` of its rows: each step takes the input whose
/// variance, given those taken before, is largest (Harbrecht, Peters and Schneider 2012). What is
/// left, K − L·Lᵀ, is the covariance given these inputs; so it is positive semi-definite.
class PivotedCholesky {
 public:
  /// diagonal [N]; row(i) gives K's row i, [N]. Takes O(N·rank²) beside the rows, in N·rank
  /// numbers. Throws Error for another shape, and where a row and the diagonal disagree.
  PivotedCholesky(const Tensor& diagonal, const std::function<Tensor(std::int64_t)>& row,
                  const PivotedCholeskyOptions& options = {});

  std::int64_t rank() const { return static_cast<std::int64_t>(pivots_.size()); }
  /// The inputs taken, in their order.
  const std::vector<std::int64_t>& pivots() const { return pivots_; }
  Tensor factor() const;                 ///< L, [N, rank]
  double left() const { return left_; }  ///< trace(K − L·Lᵀ)

 private:
  std::vector<std::int64_t> pivots_;
  Tensor columns_;  // Lᵀ, [rank, N]
  double left_ = 0;
};

/// P = L·Lᵀ + σ²·I as a preconditioner (Gardner et al. 2018, "GPyTorch"), by the identity of
/// Woodbury: P⁻¹ = (I − L·(σ²·I + LᵀL)⁻¹·Lᵀ)/σ². Of a pivoted factor of K it is a lower bound, P ⪯
/// K + σ²·I.
class LowRankPlusNoise {
 public:
  /// l [N, r], r ≥ 0; noise σ² > 0.
  LowRankPlusNoise(const Tensor& l, double noise);

  /// P⁻¹·B.   [N, k] → [N, k]
  Tensor solve(const Tensor& b) const;
  double log_determinant() const;

 private:
  Tensor l_;       // [N, r]
  Tensor factor_;  // [r, r]: of σ²·I + LᵀL
  double noise_;
};

}  // namespace ladon
