#pragma once
// Linear algebra on matrices in the last two axes: leading axes are a batch, and broadcast if there
// are two operands. f32 and f64; mixed dtypes compute in f64. All throw Error for a matrix that is
// not square or contains NaN or infinity, also in gradients.
//
// Where a matrix is called symmetric below only its lower triangle is read. The gradient is for
// symmetric changes A + dA, dA = dAᵀ, and is spread evenly over both triangles.
//
// Gradients: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
// differentiation", 2008; Murray, "Differentiation of the Cholesky decomposition", 2016.

#include "ladon/core/tensor.h"

namespace ladon {

/// Lower L with A = L·Lᵀ, for symmetric positive definite A.   [.., n, n] → [.., n, n]. Throws
/// lapack::NotPositiveDefinite (core/linalg/lapack.h), which gives the order of the leading minor
/// that is not positive, A's smallest eigenvalue and a sufficient jitter.
Tensor cholesky(const Tensor& a);

struct TriangularOptions {
  bool upper = false;       ///< Read the upper triangle of A instead of the lower.
  bool transposed = false;  ///< Use Aᵀ instead of A.
  bool left = true;         ///< A·X = B; false: X·A = B.
};
/// X with A·X = B for triangular A [.., n, n], of which one triangle is read.   B [.., n, k] ([..,
/// k, n] for X·A = B), or one vector [n] for all matrices → X of B's shape. Throws Error where the
/// diagonal has a zero.
Tensor solve_triangular(const Tensor& a, const Tensor& b, TriangularOptions options = {});

/// X with L·Lᵀ·X = B for a Cholesky factor L.   [.., n, n], [.., n, k] or [n] → B's shape.
Tensor cholesky_solve(const Tensor& l, const Tensor& b);

/// X with A·X = B for any square A.   [.., n, n], [.., n, k] or [n] → B's shape. Throws Error where
/// A is singular, naming the pivot that is 0; for a nearly singular A, X is inaccurate, without an
/// error.
Tensor solve(const Tensor& a, const Tensor& b);

/// A⁻¹.   [.., n, n] → [.., n, n]. Errors as for solve. To multiply by A⁻¹, solve instead.
Tensor inverse(const Tensor& a);

/// Eigenvalues λ (ascending, [.., n]) and eigenvectors V (orthonormal columns of [.., n, n]) of a
/// symmetric matrix. n up to 32766.
///
/// Eigenvectors of equal eigenvalues (to rounding: within n·ε·max|λ|) are an arbitrary orthonormal
/// basis of their eigenspace and have no derivative: backward throws Error if the gradient depends
/// on the choice of basis. Gradients through the other vectors are right, and so are gradients
/// through λ for functions that are symmetric in equal eigenvalues. LAPACK chooses the signs of the
/// vectors.
struct EigenResult {
  Tensor values, vectors;
};
EigenResult eigh(const Tensor& a);

/// eigh(A).values, in half the time where nothing is recorded, since vectors are for its gradient.
Tensor eigenvalues(const Tensor& a);

/// ln det A of a symmetric positive definite A.   [.., n, n] → [..]. Errors as for cholesky.
Tensor logdet(const Tensor& a);

/// det A = sign·e^log for any square A: sign −1, 0 or 1, log = ln |det A|, each [..]; 0 and −∞ for
/// a singular A. `sign` has no gradient; that of `log` is A⁻ᵀ, and backward throws Error where A is
/// singular.
struct SignAndLog {
  Tensor sign, log;
};
SignAndLog slogdet(const Tensor& a);

/// det A.   [.., n, n] → [..]. Backward throws Error where A is singular.
Tensor det(const Tensor& a);

}  // namespace ladon
