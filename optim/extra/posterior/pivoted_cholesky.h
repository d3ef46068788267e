#pragma once
// Low-rank approximation of a kernel matrix from a few of its rows, and a preconditioner from it.

#include <cstdint>
#include <functional>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

struct PivotedCholeskyOptions {
  std::int64_t rank = 100;   ///< Maximum rank.
  double tolerance = 1e-10;  ///< Stop when trace(K − L·Lᵀ) ≤ tolerance·trace(K).
};

/// Low-rank approximation K ≈ L·Lᵀ from K's diagonal and `rank` of its rows: each step selects the
/// input with the largest variance given the inputs selected before (Harbrecht, Peters and
/// Schneider 2012). The remainder K − L·Lᵀ is the covariance given all selected inputs, and so is
/// positive semi-definite.
class PivotedCholesky {
 public:
  /// diagonal [N]; row(i) returns row i of K, [N]. Takes O(N·rank²) operations in addition to
  /// computing the rows, and memory for N·rank numbers. Throws Error for another shape, and if a
  /// row and the diagonal disagree.
  PivotedCholesky(const Tensor& diagonal, const std::function<Tensor(std::int64_t)>& row,
                  const PivotedCholeskyOptions& options = {});

  std::int64_t rank() const { return static_cast<std::int64_t>(pivots_.size()); }
  /// The selected inputs, in order of selection.
  const std::vector<std::int64_t>& pivots() const& { return pivots_; }
  std::vector<std::int64_t> pivots() && { return std::move(pivots_); }
  Tensor factor() const;                 ///< The factor L, [N, rank].
  double left() const { return left_; }  ///< trace(K − L·Lᵀ)

 private:
  std::vector<std::int64_t> pivots_;
  Tensor columns_;  // Lᵀ, [rank, N]
  double left_ = 0;
};

/// Preconditioner P = L·Lᵀ + σ²·I for K + σ²·I (Gardner et al. 2018, "GPyTorch"), inverted by
/// Woodbury's identity: P⁻¹ = (I − L·(σ²·I + LᵀL)⁻¹·Lᵀ)/σ². If L is a pivoted Cholesky factor of K,
/// P is a lower bound, P ⪯ K + σ²·I.
class LowRankPlusNoise {
 public:
  /// P for l = L [N, r], r ≥ 0, and noise = σ² > 0.
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
