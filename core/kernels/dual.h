#pragma once
// Dual activations of contiguous or strided f64 tensors, on all threads: closed forms and series.
// No gradients: users call them through layers/infinite/dual/dual.h.

#include <vector>

#include "ladon/core/kernels/loops/limits/dual.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// A family of closed forms, and the parameters that select a member of it (see Dual).
struct DualForm {
  Dual family;
  std::vector<double> parameters;
};

/// Two tensors of c's shape; the second undefined unless asked for.
struct DualPair {
  Tensor first, second;
};

/// E[φ(u)φ(v)] and, `with_derivative`, E[φ'(u)φ'(v)] for (u, v) ~ N(0, [[p, c], [c, q]]). p and q
/// broadcast to c's shape. An entry's result depends on nothing but its p, q and c.
DualPair dual(const DualForm& form, const Tensor& p, const Tensor& q, const Tensor& c,
              bool with_derivative);

/// ∂E/∂c and ∂E/∂p. With p and q exchanged the second is ∂E/∂q.
DualPair dual_slopes(const DualForm& form, const Tensor& p, const Tensor& q, const Tensor& c);

/// ∂E'/∂c and ∂E'/∂p of E' = E[φ'(u)φ'(v)], as dual() gives it; 0 where they are infinite.
DualPair dual_curvatures(const DualForm& form, const Tensor& p, const Tensor& q, const Tensor& c);

/// The powers of ρ in a series: all, or those of an even or an odd function.
enum class Powers { all, even, odd };

/// slope2·ρ·sqrt(pq) + Σ_k a_k(p)·b_k(q)·ρ^n_k over the powers n_k, with ρ = c/sqrt(pq) clamped to
/// [−1, 1], and 0 where pq = 0. a: p's shape and one more axis of K terms; b: q's shape and K; K a
/// multiple of 8. Stops after a quarter or half of the terms if the rest is below 2^−54·|a|·|b|.
Tensor dual_series(const Tensor& a, const Tensor& b, const Tensor& p, const Tensor& q,
                   const Tensor& c, Powers powers = Powers::all, double slope2 = 0);

}  // namespace ladon::kernels
