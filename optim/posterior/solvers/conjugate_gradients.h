#pragma once
// Linear systems by products with their matrix alone (Hestenes and Stiefel 1952; Golub and Van Loan
// 2013, chapter 11).

#include <cstdint>
#include <functional>

#include "ladon/core/tensor.h"

namespace ladon {

/// A symmetric matrix, or what is made of one, as a function of vectors.   [N, k] → [N, k]
using LinearMap = std::function<Tensor(const Tensor&)>;

struct CgProgress {
  int iterations = 0;
  double residual = 0;  ///< The largest ‖b − A·x‖/‖b‖ of a right side, as the iteration carries it.
};

struct CgOptions {
  double tolerance = 1e-8;    ///< A right side is done at ‖b − A·x‖ ≤ tolerance·‖b‖.
  int max_iterations = 1000;  ///< Products with A, but for those that measure the residual.
  /// b ↦ P⁻¹·b for a positive definite P near A: the iterations are those that P^(−½)·A·P^(−½)
  /// needs.
  LinearMap preconditioner = {};
  std::function<void(const CgProgress&)> progress = {};  ///< Called after each iteration.
};

struct CgResult {
  Tensor x;         ///< [N, k]
  Tensor residual;  ///< [N, k]: b − A·x, computed from x.
  Tensor relative;  ///< [k]: ‖b − A·x‖/‖b‖; 0 where b is 0.
  int iterations = 0;
};

/// X with A·X = B, f64, for a positive definite A.   b [N, k], k right sides that share the
/// products and have step sizes of their own. The residual that the iteration carries drifts from
/// the true one by rounding, so it is measured at the end, and the iteration goes on from there
/// while that halves it.
///
/// If max_iterations or rounding end it before the tolerance is reached, `relative` says so.
/// Throws Error where a direction p has pᵀA·p ≤ 0 (A is not positive definite), a residual rᵀP⁻¹r ≤
/// 0 (the preconditioner is not), where a product is not finite or has another shape.
CgResult conjugate_gradients(const LinearMap& multiply, const Tensor& b,
                             const CgOptions& options = {});

}  // namespace ladon
