#pragma once
// Linear algebra, of matrices in the last two axes: leading axes are a batch, and broadcast where
// there are two operands. f32 and f64; mixed ones compute in f64. All throw Error for a matrix that
// is not square or holds NaN or infinity, in gradients too.
//
// Matrices called symmetric below must be so: only the lower triangle is read, and the gradient is
// that of a symmetric matrix, A + dA with dA = dAᵀ, spread evenly over both triangles.
//
// Gradients: Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
// differentiation", 2008; Murray, "Differentiation of the Cholesky decomposition", 2016.

#include "ladon/core/tensor.h"

namespace ladon {

/// Lower L with A = L·Lᵀ, for symmetric positive definite A.   [.., n, n] → [.., n, n]. Throws
/// lapack::NotPositiveDefinite (core/linalg/lapack.h), which names the leading minor that fails,
/// A's smallest eigenvalue and a jitter that would do.
Tensor cholesky(const Tensor& a);

struct TriangularOptions {
  bool upper = false;       ///< Reads the upper triangle of A instead of the lower.
  bool transposed = false;  ///< Aᵀ in A's place.
  bool left = true;         ///< A·X = B; false: X·A = B.
};
/// X with A·X = B for triangular A [.., n, n], of which one triangle is read.   B [.., n, k] ([..,
/// k, n] on the right), or one vector [n] for all matrices → X of B's shape. Throws Error where the
/// diagonal has a zero.
Tensor solve_triangular(const Tensor& a, const Tensor& b, TriangularOptions options = {});

/// X with L·Lᵀ·X = B for a Cholesky factor L.   [.., n, n], [.., n, k] or [n] → B's shape.
Tensor cholesky_solve(const Tensor& l, const Tensor& b);

/// X with A·X = B for any square A.   [.., n, n], [.., n, k] or [n] → B's shape. Throws Error where
/// A is singular, naming the pivot that is 0; nearly singular matrices pass, and their X is as
/// uncertain as they are.
Tensor solve(const Tensor& a, const Tensor& b);

/// A⁻¹.   [.., n, n] → [.., n, n]. Errors as for solve. To multiply by A⁻¹, solve instead.
Tensor inverse(const Tensor& a);

/// Eigenvalues λ (ascending, [.., n]) and eigenvectors V (orthonormal columns of [.., n, n]) of a
/// symmetric matrix. n up to 32766.
///
/// Equal eigenvalues (to rounding: within n·ε·max|λ|) share a space, of which their vectors are any
/// orthonormal ones: these have no derivative, and backward throws Error where a gradient turns
/// them into each other. Gradients by the other vectors are right, and by λ for functions that
/// treat equal eigenvalues alike. The signs of the vectors are LAPACK's choice.
struct EigenResult {
  Tensor values, vectors;
};
EigenResult eigh(const Tensor& a);

/// ln det A of a symmetric positive definite A.   [.., n, n] → [..]. Errors as for cholesky.
Tensor logdet(const Tensor& a);

/// det A = sign·e^log of any square A: sign −1, 0 or 1, log = ln |det A|, each [..]. Of a singular
/// matrix 0 and −∞. The sign has no gradient; that of `log` is A⁻ᵀ, and backward throws Error where
/// A is singular.
struct SignAndLog {
  Tensor sign, log;
};
SignAndLog slogdet(const Tensor& a);

/// det A.   [.., n, n] → [..]. Backward throws Error where A is singular.
Tensor det(const Tensor& a);

}  // namespace ladon
