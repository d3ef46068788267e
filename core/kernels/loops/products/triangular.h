#pragma once
// The vector loops of Cholesky factorization and of triangular systems. Matrices are packed in the
// panels of gemm.h: panel j of a matrix B [n, m] holds `columns` columns, element (p, i) of them at
// right[(j·n + p)·columns + i], and panel i of L [n, n] holds `rows` rows, element (r, p) of them
// at left[(i·n + p)·rows + r].

#include <cstdint>

namespace ladon::kernels {

template <class T>
struct TriangularLoops {
  /// B ← L⁻¹·B for `panels` panels of B. L is lower triangular, and its panels hold 1/L_ii in place
  /// of L_ii; what is above the diagonal is not read.
  void (*solve)(std::int64_t n, const T* left, std::int64_t panels, T* right);
  /// Factorizes the symmetric A = Uᵀ·U in place: `right` holds A and becomes U, upper triangular.
  /// Only A's upper triangle is read; what the panels hold below the diagonal is lost. `left`
  /// receives L = Uᵀ, in the form that `solve` reads. Returns the order of the first leading minor
  /// of A that is not positive, or 0 if all are positive.
  std::int64_t (*factor)(std::int64_t n, T* right, T* left);
};

}  // namespace ladon::kernels
