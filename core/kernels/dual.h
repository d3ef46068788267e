#pragma once
// Dual activations E[φ(u)φ(v)] of an activation function φ for a normal pair (u, v), as closed
// forms or series, on all threads; tensors are f64, of any strides. No gradients are recorded:
// users call these functions through layers/infinite/dual/dual.h.

#include <vector>

#include "ladon/core/kernels/loops/limits/dual.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// A family of activation functions, and the parameters that select a member of it (see Dual).
struct DualForm {
  Dual family;
  std::vector<double> parameters;
};

/// Two tensors of c's shape; the second is undefined unless it was requested.
struct DualPair {
  Tensor first, second;
};

/// The expectations E = E[φ(u)φ(v)] and, if `with_derivative`, E' = E[φ'(u)φ'(v)] for
/// (u, v) ~ N(0, [[p, c], [c, q]]). p and q broadcast to c's shape. The result of an entry, to the
/// last bit, depends only on the p, q and c of this entry.
DualPair dual(const DualForm& form, const Tensor& p, const Tensor& q, const Tensor& c,
              bool with_derivative);

/// ∂E/∂c and ∂E/∂p of E = E[φ(u)φ(v)]. Called with p and q exchanged, the second result is ∂E/∂q.
DualPair dual_slopes(const DualForm& form, const Tensor& p, const Tensor& q, const Tensor& c);

/// ∂E'/∂c and ∂E'/∂p of E' = E[φ'(u)φ'(v)], the second result of dual(); 0 where a derivative is
/// infinite.
DualPair dual_curvatures(const DualForm& form, const Tensor& p, const Tensor& q, const Tensor& c);

/// The powers of ρ in a series: all powers, or only the even or the odd powers.
enum class Powers { all, even, odd };

/// slope2·ρ·sqrt(pq) + Σ_k a_k·b_k·ρ^n_k, where n_k runs over `powers` and ρ = c/sqrt(pq) is
/// clamped to [−1, 1], and is 0 where pq = 0. a has the shape of p and one more axis of K terms, b
/// the shape of q and one more axis of K terms; K is a multiple of 8. The sum ends after a quarter
/// or half of the terms if the remaining terms are below 2^−54·|a|·|b|, with the norms over the K
/// terms.
Tensor dual_series(const Tensor& a, const Tensor& b, const Tensor& p, const Tensor& q,
                   const Tensor& c, Powers powers = Powers::all, double slope2 = 0);

}  // namespace ladon::kernels
