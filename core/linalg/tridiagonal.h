#pragma once
// Reduction of a symmetric matrix to tridiagonal form by Householder reflections, on all threads:
// the first step in computing its eigenvalues.

#include <cstdint>

namespace ladon::lapack {

/// A = Q·T·Qᵀ for the symmetric A whose lower triangle is in the row-major `a` [n, n], n ≥ 1: T has
/// diagonal d [n] and off-diagonal e [n − 1]. Q is left in `a` and tau [n − 1] in the form of
/// LAPACK's sytrd for a column-major upper triangle, which ormtr reads (Golub and Van Loan, Matrix
/// Computations, 8.3). Elements of `a` above its diagonal are lost. Results have the same bits at
/// any number of threads. The squares of the largest elements must be well within the range of the
/// element type.
template <class T>
void make_tridiagonal(std::int64_t n, T* a, T* d, T* e, T* tau);

}  // namespace ladon::lapack
