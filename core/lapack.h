#pragma once
// The only door to LAPACK. float64 and float32, row-major tensors, no gradients.

#include <utility>

#include "ladon/core/tensor.h"

namespace ladon::lapack {

/// Lower L with A = L·Lᵀ.   [n, n] → [n, n]. Only the lower triangle of A is read. Throws Error
/// where A is not positive definite, naming the order of the leading minor that fails and A's
/// smallest eigenvalue, and suggesting a jitter.
Tensor cholesky(const Tensor& a);

/// X with L·X = B (or Lᵀ·X = B) for lower triangular L.   [n,n], [n,k] → [n,k].
Tensor solve_triangular(const Tensor& l, const Tensor& b, bool transposed = false);

/// X with A·X = B for symmetric positive definite A given by its Cholesky factor.
Tensor cholesky_solve(const Tensor& l, const Tensor& b);

/// Eigenvalues (ascending, [n]) and eigenvectors (columns of [n, n]) of a symmetric matrix.
std::pair<Tensor, Tensor> eigh(const Tensor& a);

}  // namespace ladon::lapack
