#pragma once
// The only interface to BLAS, which runs single-threaded. Large products are cut into tiles, which
// run on Ladon's threads; the tiles depend on the shapes alone, so results do not depend on the
// number of threads.

#include <cstdint>

namespace ladon::blas {

/// A matrix operand: element (i, j) at data[i·row + j·column]. All strides are allowed (also 0 and
/// overlapping rows); if neither stride is 1 the operand is packed first.
template <class T>
struct Matrix {
  T* data;
  std::int64_t row;
  std::int64_t column;

  Matrix transposed() const { return {data, column, row}; }
};

/// C ← alpha·A·B + beta·C.   [m,k] · [k,n] → [m,n]. The column stride of C must be 1; its rows must
/// not overlap each other, nor A or B. beta = 0 overwrites C, even where C is NaN. k = 0 gives
/// beta·C. T is float or double.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> a,
          Matrix<const T> b, T beta, Matrix<T> c);

/// gemm() on the calling thread only, for use inside tasks.
template <class T>
void gemm_serial(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> a,
                 Matrix<const T> b, T beta, Matrix<T> c);

/// The lower triangle of C ← alpha·A·Aᵀ + beta·C.   A [n, k], C [n, n] with column stride 1.
/// Elements of C above the diagonal are lost.
template <class T>
void syrk(std::int64_t n, std::int64_t k, T alpha, Matrix<const T> a, T beta, Matrix<T> c);

/// gemm() for `count` products: the operands of product i begin at a + i·a_batch, b + i·b_batch and
/// c + i·c_batch. A batch stride of 0 uses the same A or B in all products; the matrices C must not
/// overlap.
template <class T>
void gemm_batched(std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                  Matrix<const T> a, std::int64_t a_batch, Matrix<const T> b, std::int64_t b_batch,
                  T beta, Matrix<T> c, std::int64_t c_batch);

}  // namespace ladon::blas
