#pragma once
// Size of the block of a matrix product that is kept in registers, together with a row of B and an
// element of A, and the type of the block's rows.

#include "ladon/core/kernels/loops/products/blocked.h"

namespace ladon::kernels::LADON_LEVEL {

inline constexpr int block_rows = vector_bytes == 64   ? 8
                                  : vector_bytes == 32 ? 6
                                                       : 4,
                     block_vectors = 2;
template <class T>
constexpr int row_lanes = vector_bytes / static_cast<int>(sizeof(T));
template <class T>
constexpr int block_columns = block_vectors* row_lanes<T>;

template <class T>
struct RegisterRow {
  typedef T Type __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));
};
template <class T>
using Row = typename RegisterRow<T>::Type;

/// Load and store at any alignment. (Rows are passed by value, because clang assumes that a
/// reference to a Row is aligned to the whole vector. Arrays of rows, which are passed by
/// reference, have that alignment.)
template <class T>
LADON_INLINE Row<T> row_at(const T* x) {
  return load<Row<T>>(x);
}
template <class T>
LADON_INLINE void set_row(T* x, Row<T> row) {
  *reinterpret_cast<Row<T>*>(x) = row;
}

template <int n>
struct Number {
  static constexpr int value = n;
};
/// Calls `body(Number<min(n, most)>())`, so that the number is known at compile time.
template <int most, class Body>
LADON_INLINE void with_number(int64_t n, const Body& body) {
  if constexpr (most == 1)
    body(Number<1>());
  else if (n >= most)
    body(Number<most>());
  else
    with_number<most - 1>(n, body);
}

}  // namespace ladon::kernels::LADON_LEVEL
