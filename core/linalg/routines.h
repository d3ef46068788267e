#pragma once
// Routines of BLAS and LAPACK for blas.cpp and lapack*.cpp, under their usual names: OpenBLAS's
// (openblas/), or Ladon's own loops (portable/), chosen by LADON_PORTABLE. All run on the calling
// thread. T is float or double, sizes and strides are at least 1.

#include <cstdint>

namespace ladon::routines {

/// A row-major matrix operand, or its transpose if `transposed`.
template <class T>
struct Operand {
  const T* data;
  bool transposed;
  int stride;
};

/// C ← alpha·A·B + beta·C.   [m,k] · [k,n] → [m,n]. beta = 0 overwrites C, NaN included.
template <class T>
void gemm(int m, int n, int k, T alpha, Operand<T> a, Operand<T> b, T beta, T* c, int stride);

/// y ← alpha·A·x + beta·y.   [m,k] · [k] → [m]
template <class T>
void gemv(int m, int k, T alpha, Operand<T> a, const T* x, int x_step, T beta, T* y, int y_step);

/// A ← L and U with P·A = L·U, for the column-major A [n, n]. Row i was exchanged with row
/// swaps[i], counted from 1. Pivots may be 0.
template <class T>
void getrf(int n, T* a, int* swaps);

/// B ← A⁻¹·B, or A⁻ᵀ·B, for the column-major B [n, k] and an A that getrf has factored.
template <class T>
void getrs(bool transposed, int n, int k, const T* lu, const int* swaps, T* b);

/// Eigenvalues, ascending, of the symmetric A whose lower triangle is in the row-major `a` [n, n].
/// `a` becomes the eigenvectors (as rows) if `vectors`, else is lost. Returns 0, or another number
/// if the iteration does not converge.
template <class T>
int syevd(bool vectors, int n, T* a, T* values);

/// syevd for a tridiagonal matrix with diagonal d [n] and off-diagonal e [n − 1]: d becomes the
/// eigenvalues, z [n, n] the eigenvectors (as rows), and e is lost.
template <class T>
int stedc(int n, T* d, T* e, T* z);

/// Converts eigenvectors of the tridiagonal T, the rows of z [rows, n], to eigenvectors of
/// A = Q·T·Qᵀ, by multiplying each row by Q, which make_tridiagonal (tridiagonal.h) left in a and
/// tau.
template <class T>
void ormtr(int n, int rows, const T* a, const T* tau, T* z);

}  // namespace ladon::routines
