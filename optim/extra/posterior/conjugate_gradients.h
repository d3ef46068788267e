#pragma once
// Conjugate gradients: solves linear systems by matrix-vector products only (Hestenes and Stiefel
// 1952; Golub and Van Loan 2013, chapter 11).

#include <cstdint>
#include <functional>

#include "ladon/core/tensor.h"

namespace ladon {

/// Product of a symmetric matrix with k vectors, the columns of the argument:  [N, k] → [N, k].
using LinearMap = std::function<Tensor(const Tensor&)>;

struct CgProgress {
  int iterations = 0;
  double residual = 0;  ///< Largest ‖b − A·x‖/‖b‖ over right-hand sides, from the recursively
                        ///< updated residual.
};

struct CgOptions {
  double tolerance = 1e-8;  ///< A right-hand side b is solved when ‖b − A·x‖ ≤ tolerance·‖b‖.
  int max_iterations = 1000;  ///< Maximum number of products with A, not counting those that
                              ///< recompute the residual.
  /// b ↦ P⁻¹·b for a positive definite P that approximates A: the iteration then converges as fast
  /// as for the matrix P^(−½)·A·P^(−½). If empty, P = I.
  LinearMap preconditioner = {};
  std::function<void(const CgProgress&)> progress = {};  ///< Called after each iteration.
};

struct CgResult {
  Tensor x;         ///< [N, k]
  Tensor residual;  ///< [N, k]: b − A·x, computed from x.
  Tensor relative;  ///< [k]: ‖b − A·x‖/‖b‖; 0 where b is 0.
  int iterations = 0;
};

/// Solves A·X = B in f64 for a positive definite A, given as `multiply`. b [N, k] contains k
/// right-hand sides, which are multiplied by A together but have separate step sizes. The
/// recursively updated residual drifts from the true residual by rounding. The true residual is
/// therefore computed at the end, and the iteration restarts from it as long as each restart halves
/// it.
///
/// If max_iterations or rounding stops the iteration before the tolerance is reached, no Error is
/// thrown; check CgResult::relative. Throws Error if a search direction p has pᵀA·p ≤ 0 (A is not
/// positive definite), if a residual has rᵀP⁻¹r ≤ 0 (the preconditioner is not positive definite),
/// and if a product is not finite or has another shape.
CgResult conjugate_gradients(const LinearMap& multiply, const Tensor& b,
                             const CgOptions& options = {});

}  // namespace ladon
