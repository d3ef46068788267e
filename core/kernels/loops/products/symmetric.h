#pragma once
// The vector loops of the reduction of a symmetric matrix to a tridiagonal one.

#include <cstdint>

namespace ladon::kernels {

template <class T>
struct SymmetricLoops {
  /// y ← y + the contribution of rows [first, last) of the lower triangle of A to A·x: each row to
  /// its element, and its elements left of the diagonal to those of their columns.   x, y [last]
  void (*multiply)(const T* a, std::int64_t stride, std::int64_t first, std::int64_t last,
                   const T* x, T* y);
  /// y[i] = ⟨row i of P, x⟩.   P [rows, n]
  void (*dots)(std::int64_t rows, std::int64_t n, const T* p, std::int64_t stride, const T* x,
               T* y);
  /// y ← y + Σ_i c[i]·row i of P.   P [rows, n]
  void (*add_rows)(std::int64_t rows, std::int64_t n, const T* c, const T* p, std::int64_t stride,
                   T* y);
};

}  // namespace ladon::kernels
