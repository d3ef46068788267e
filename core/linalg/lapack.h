#pragma once
// The only interface to LAPACK, for single f32 and f64 matrices of any strides, without gradients
// (for gradients and batches see autograd/ops/linalg/linalg.h). Results are row-major; only those
// of lu and lu_solve are column-major. All functions throw Error if an operand is not a
// floating-point matrix of the stated shape or contains NaN or infinity, or if two operands differ
// in dtype.

#include <string>
#include <utility>

#include "ladon/core/error.h"
#include "ladon/core/tensor.h"

namespace ladon::lapack {

/// Error that cholesky throws for a matrix that is not positive definite.
class NotPositiveDefinite : public Error {
 public:
  NotPositiveDefinite(const std::string& message, double eigenvalue, double enough)
      : Error(message), smallest_eigenvalue(eigenvalue), jitter(enough) {}
  double smallest_eigenvalue;
  double jitter;  ///< A number that, added to the diagonal, makes the matrix positive definite.
};

/// Lower L with A = L·Lᵀ.   [n, n] → [n, n]. Only the lower triangle of A is read. Throws
/// NotPositiveDefinite, naming the order of the leading minor that fails and A's smallest
/// eigenvalue, and suggesting a jitter. Runs on all threads.
Tensor cholesky(const Tensor& a);

/// X with L·X = B (or Lᵀ·X = B) for lower triangular L.   [n,n], [n,k] → [n,k]. Only the lower
/// triangle of L is read. Throws Error if the diagonal of L contains a zero.
Tensor solve_triangular(const Tensor& l, const Tensor& b, bool transposed = false);

/// X with A·X = B for symmetric positive definite A given by its Cholesky factor L.
Tensor cholesky_solve(const Tensor& l, const Tensor& b);

/// A⁻¹ of a symmetric positive definite A given by its Cholesky factor L: symmetric to the last
/// bit, in a third of the time of cholesky_solve(L, I). Throws Error if the diagonal of L contains
/// a zero.
Tensor cholesky_inverse(const Tensor& l);

/// Gaussian elimination with rows exchanged: P·A = L·U.
struct Lu {
  Tensor factors;  ///< [n, n]: U, and below its diagonal L, whose diagonal is 1.
  Tensor swaps;    ///< [n] (i64): row i was exchanged with row swaps[i] ≥ i, in this order.
};
/// LU factorization of a matrix [n, n]. A singular matrix is factored too; a pivot (an element of
/// the diagonal of U) is then 0.
Lu lu(const Tensor& a);

/// X with A·X = B (or Aᵀ·X = B) for a square A given by lu(A).   [n, k] → [n, k]. Throws Error
/// if a pivot is 0, or `swaps` cannot be a result of lu.
Tensor lu_solve(const Lu& lu, const Tensor& b, bool transposed = false);

/// Eigenvalues (ascending, [n]) and eigenvectors (orthonormal columns of [n, n]) of a symmetric
/// matrix; only its lower triangle is read. n is at most 32766.
std::pair<Tensor, Tensor> eigh(const Tensor& a);

/// The eigenvalues that eigh() returns, without eigenvectors: needs half the memory, and n is not
/// limited to 32766.
Tensor eigenvalues(const Tensor& a);

}  // namespace ladon::lapack
