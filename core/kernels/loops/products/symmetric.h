#pragma once
// The vector loops of the reduction of a symmetric matrix to tridiagonal form.

#include <cstdint>

namespace ladon::kernels {

template <class T>
struct SymmetricLoops {
  /// Adds to y the contribution of rows [first, last) of the lower triangle of a symmetric A to
  /// A·x. Each a_ij contributes a_ij·x_j to y_i and, left of the diagonal, a_ij·x_i to y_j. x and y
  /// are [last].
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
