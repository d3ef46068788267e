#pragma once
// Cholesky factorization and triangular systems, on all threads, in the library's own vector loops
// (kernels/loops/products/triangular.h). Work is divided by shape alone, so results have the same
// bits at any number of threads. T is float or double.

#include <cstdint>

#include "ladon/core/linalg/blas.h"
#include "ladon/core/tensor.h"

namespace ladon::lapack {

/// Returns cholesky(A + ridge·I) (lapack.h), without allocating memory for the sum.
Tensor cholesky(const Tensor& a, double ridge);

/// A ← L with A = L·Lᵀ, for the row-major A [n, n] with zeros above its diagonal, n ≥ 1. Returns
/// the order of the first leading minor that is not positive, or 0 if all are positive.
template <class T>
std::int64_t factor_in_place(std::int64_t n, T* a);

/// X ← L⁻¹·X, or X ← L⁻ᵀ·X if `transposed`, for X [n, k] and the lower triangle L [n, n], which has
/// no zeros on its diagonal. X and L have column stride 1 and row strides below 2³¹.
template <class T>
void solve_in_place(std::int64_t n, std::int64_t k, blas::Matrix<const T> l, bool transposed,
                    blas::Matrix<T> x);

}  // namespace ladon::lapack
