#pragma once
// The only door to LAPACK. f32 and f64 tensors of any strides, no gradients; results are row-major.
// All throw Error where an operand is not a floating-point matrix of the stated shape or holds NaN
// or infinity, and where two operands differ in dtype.

#include <utility>

#include "ladon/core/tensor.h"

namespace ladon::lapack {

/// Lower L with A = L·Lᵀ.   [n, n] → [n, n]. Only the lower triangle of A is read. Throws Error
/// where A is not positive definite, naming the order of the leading minor that fails and A's
/// smallest eigenvalue, and suggesting a jitter. Runs on all threads.
Tensor cholesky(const Tensor& a);

/// X with L·X = B (or Lᵀ·X = B) for lower triangular L.   [n,n], [n,k] → [n,k]. Only the lower
/// triangle of L is read. Throws Error where its diagonal has a zero.
Tensor solve_triangular(const Tensor& l, const Tensor& b, bool transposed = false);

/// X with A·X = B for symmetric positive definite A given by its Cholesky factor L.
Tensor cholesky_solve(const Tensor& l, const Tensor& b);

/// Eigenvalues (ascending, [n]) and eigenvectors (orthonormal columns of [n, n]) of a symmetric
/// matrix, of which only the lower triangle is read. n up to 32766.
std::pair<Tensor, Tensor> eigh(const Tensor& a);

}  // namespace ladon::lapack
