#pragma once
// Linear algebra on matrices in the last two axes: leading axes are a batch, and broadcast if there
// are two operands. Dtypes are f32 and f64; mixed ones are computed in f64. All throw Error for a
// matrix that is not square or contains NaN or infinity; gradients are checked in the same way.
//
// If a matrix is called symmetric below, only its lower triangle is read. Its gradient is with
// respect to symmetric changes A + dA, dA = dAᵀ, and is spread evenly over both triangles.
//
// Gradients: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
// differentiation", 2008; Murray, "Differentiation of the Cholesky decomposition", 2016.

#include "ladon/core/tensor.h"

namespace ladon {

/// Lower triangular L with A = L·Lᵀ, for symmetric positive definite A: [.., n, n]. Throws
/// lapack::NotPositiveDefinite (core/linalg/lapack.h), which gives the order of the leading minor
/// that is not positive, A's smallest eigenvalue and a sufficient jitter.
Tensor cholesky(const Tensor& a);

struct TriangularOptions {
  bool upper = false;       ///< Read the upper triangle of A instead of the lower.
  bool transposed = false;  ///< Use Aᵀ instead of A.
  bool left = true;         ///< Solve A·X = B; if false, X·A = B.
};
/// Solution X of A·X = B for triangular A [.., n, n]; only one triangle of A is read. B is
/// [.., n, k] ([.., k, n] for X·A = B), or a vector [n] that all matrices of the batch share; X has
/// B's shape. Throws Error if a diagonal element is zero.
Tensor solve_triangular(const Tensor& a, const Tensor& b, TriangularOptions options = {});

/// Solution X of L·Lᵀ·X = B for a Cholesky factor L [.., n, n] and B [.., n, k] or [n]; X has B's
/// shape.
Tensor cholesky_solve(const Tensor& l, const Tensor& b);

/// Solution X of A·X = B for any square A [.., n, n] and B [.., n, k] or [n]; X has B's shape.
/// Throws Error if A is singular, naming the pivot that is 0. For a nearly singular A, X is
/// inaccurate, and no error is thrown.
Tensor solve(const Tensor& a, const Tensor& b);

/// Inverse matrix A⁻¹ [.., n, n]; throws Error if A is singular. For a product A⁻¹·B call
/// solve(A, B) instead.
Tensor inverse(const Tensor& a);

/// Eigenvalues λ (ascending, [.., n]) and eigenvectors V (orthonormal columns of [.., n, n]) of a
/// symmetric matrix. n up to 32766.
///
/// Eigenvalues count as equal if they differ by at most n·ε·max|λ|, with ε the machine epsilon of
/// the dtype. Their eigenvectors are an arbitrary orthonormal basis of the eigenspace and have no
/// derivative: backward throws Error if the gradient depends on the choice of that basis. Gradients
/// through all other eigenvectors are right, and so are gradients through λ for functions that are
/// symmetric in equal eigenvalues. The signs of the eigenvectors are those that LAPACK returns.
struct EigenResult {
  Tensor values, vectors;
};
EigenResult eigh(const Tensor& a);

/// eigh(A).values. Takes half the time of eigh() if nothing is recorded, since only the gradient
/// needs the eigenvectors.
Tensor eigenvalues(const Tensor& a);

/// ln det A of a symmetric positive definite A.   [.., n, n] → [..]. Throws what cholesky() throws.
Tensor logdet(const Tensor& a);

/// Sign (−1, 0 or 1) and logarithm ln |det A| of the determinant of any square A:  [.., n, n] →
/// [..] each; 0 and −∞ for a singular A. `sign` has no gradient. The gradient of `log` is A⁻ᵀ;
/// backward throws Error if A is singular.
struct SignAndLog {
  Tensor sign, log;
};
SignAndLog slogdet(const Tensor& a);

/// det A.   [.., n, n] → [..]. Backward throws Error if A is singular.
Tensor det(const Tensor& a);

}  // namespace ladon
