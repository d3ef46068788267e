#pragma once
// Routines of BLAS and LAPACK that blas.cpp and lapack*.cpp are made of, by their usual names:
// OpenBLAS's (openblas/), or loops of Ladon's own (portable/), chosen by LADON_PORTABLE. All run on
// the calling thread. T is float or double, sizes and strides are at least 1.

#include <cstdint>

namespace ladon::routines {

/// A row-major matrix operand, of which the transpose is meant where it says so.
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

enum class Side { left, right };
/// X ← L⁻¹·X, or X·L⁻¹, for the row-major X [rows, columns] and the lower triangle of the row-major
/// L; L⁻ᵀ where `transposed`.
template <class T>
void trsm(Side side, bool transposed, int rows, int columns, const T* l, int l_stride, T* x,
          int x_stride);

/// A ← L with A = L·Lᵀ, of the lower triangle of the row-major A [n, n]. Returns the order of the
/// leading minor that is not positive, or 0.
template <class T>
int potrf(int n, T* a, int stride);

/// A ← L and U with P·A = L·U, for the column-major A [n, n]. Row i was exchanged with row
/// swaps[i], counted from 1. Pivots may be 0.
template <class T>
void getrf(int n, T* a, int* swaps);

/// B ← A⁻¹·B, or A⁻ᵀ·B, for the column-major B [n, k] and an A that getrf has factored.
template <class T>
void getrs(bool transposed, int n, int k, const T* lu, const int* swaps, T* b);

/// Eigenvalues, ascending, of the symmetric A of which the row-major `a` [n, n] holds the lower
/// triangle. `a` becomes its eigenvectors (as rows) where they are wanted, else is lost. Returns 0,
/// or another number where the iteration does not converge.
template <class T>
int syevd(bool vectors, int n, T* a, T* values);

/// The same of a tridiagonal matrix: d [n] becomes the eigenvalues, z [n, n] the eigenvectors (as
/// rows), and e [n − 1], which is beside d, is lost.
template <class T>
int stedc(int n, T* d, T* e, T* z);

/// Eigenvectors of T, the `rows` rows of z [rows, n], become those of A = Q·T·Qᵀ: each by Q, as
/// make_tridiagonal (tridiagonal.h) leaves it in a and tau.
template <class T>
void ormtr(int n, int rows, const T* a, const T* tau, T* z);

}  // namespace ladon::routines
