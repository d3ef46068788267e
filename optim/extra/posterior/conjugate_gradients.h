#pragma once
// Solution of linear systems by matrix-vector products only (Hestenes and Stiefel 1952; Golub and
// Van Loan 2013, chapter 11).

#include <cstdint>
#include <functional>

#include "ladon/core/tensor.h"

namespace ladon {

/// A symmetric matrix, or a function of one, as a linear function of vectors.   [N, k] → [N, k]
using LinearMap = std::function<Tensor(const Tensor&)>;

struct CgProgress {
  int iterations = 0;
  double residual = 0;  ///< Largest ‖b − A·x‖/‖b‖ over right-hand sides, from the recursively
                        ///< updated residual.
};

struct CgOptions {
  double tolerance = 1e-8;  ///< A right-hand side is solved at ‖b − A·x‖ ≤ tolerance·‖b‖.
  int max_iterations = 1000;  ///< Maximum number of products with A, not counting those that
                              ///< recompute the residual.
  /// b ↦ P⁻¹·b for a positive definite P that approximates A: convergence is then that for
  /// P^(−½)·A·P^(−½).
  LinearMap preconditioner = {};
  std::function<void(const CgProgress&)> progress = {};  ///< Called after each iteration.
};

struct CgResult {
  Tensor x;         ///< [N, k]
  Tensor residual;  ///< [N, k]: b − A·x, computed from x.
  Tensor relative;  ///< [k]: ‖b − A·x‖/‖b‖; 0 where b is 0.
  int iterations = 0;
};

/// X with A·X = B, f64, for a positive definite A.   b [N, k]: k right-hand sides that share the
/// products but have separate step sizes. The recursively updated residual drifts from the true one
/// by rounding; the true one is therefore computed at the end, and the iteration restarts from
/// there as long as that halves it.
///
/// If max_iterations or rounding stop it before the tolerance is reached, `relative` shows it.
/// Throws Error if a direction p has pᵀA·p ≤ 0 (A is not positive definite), if a residual has
/// rᵀP⁻¹r ≤ 0 (the preconditioner is not), and if a product is not finite or has another shape.
CgResult conjugate_gradients(const LinearMap& multiply, const Tensor& b,
                             const CgOptions& options = {});

}  // namespace ladon
