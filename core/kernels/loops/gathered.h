#pragma once
// Products with a matrix whose rows lie in pieces anywhere in memory, as the patches of a convolution
// lie in its images: they are read where they stand.

#include <cstdint>

namespace ladon::kernels {

/// Of each row the elements [first, first + length) of some pieces, side by side: element s·length + p
/// of row i is at[i·stride + s][first + p], s < pieces.
template <class T>
struct GatheredRows {
  const T* const* at;
  std::int64_t stride, pieces, first, length;
};

/// A [m, k] is gathered; B stands in panels of GemmLoops::columns; sums run in order.
template <class T>
struct GatheredLoops {
  /// C ← A·B + C if `add`, else A·B + the same row [n] in each row, which may be null (0).
  ///   B [k, n], C [m, n]
  void (*multiply)(std::int64_t m, std::int64_t n, const GatheredRows<T>& a, const T* right,
                   bool add, const T* row, T* c, std::int64_t c_row);
  /// C ← Aᵀ·B + C.   B [m, n], C [k, n]
  void (*multiply_transposed)(std::int64_t m, std::int64_t n, const GatheredRows<T>& a,
                              const T* right, T* c, std::int64_t c_row);
};

}  // namespace ladon::kernels
