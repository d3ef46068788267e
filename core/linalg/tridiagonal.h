#pragma once
// A symmetric matrix made tridiagonal by reflections, on all threads: the first step of its
// eigenvalues.

#include <cstdint>

namespace ladon::lapack {

/// A = Q·T·Qᵀ for the symmetric A of which the row-major [n, n] `a` holds the lower triangle, n ≥
/// 1: T is d [n], and e [n − 1] beside it. Q is left in `a` and tau [n − 1] as LAPACK's sytrd
/// leaves it for a column-major upper triangle, and ormtr reads it (Golub and Van Loan, Matrix
/// Computations, 8.3). What `a` holds above its diagonal is lost. The same bits at any number of
/// threads. Elements are to be far from the ends of T's range, so that squares of the largest do
/// not leave it.
template <class T>
void make_tridiagonal(std::int64_t n, T* a, T* d, T* e, T* tau);

}  // namespace ladon::lapack
