#pragma once
// Transposition of matrices, in squares that fit in registers.

#include <utility>

#include "ladon/core/kernels/loops/products/blocked.h"

namespace ladon::kernels::LADON_LEVEL {

/// The row a0 b0 a1 b1 …, made from the lower halves of rows a and b, or from their upper halves if
/// `upper`.
template <bool upper, class Row, int... i>
LADON_INLINE Row interleave(Row a, Row b, std::integer_sequence<int, i...>) {
  constexpr int n = sizeof...(i);
  return __builtin_shufflevector(a, b, ((upper ? n / 2 : 0) + i / 2 + i % 2 * n)...);
}

/// Transposes rows[i][j], i, j < side, a power of two. Interleaving row i with row i + side/2 moves
/// the highest bit of the row index to the lowest of the column index; after all bits have moved,
/// rows are columns.
template <int side, class Row>
LADON_INLINE void turn_square(Row* rows) {
  constexpr auto columns = std::make_integer_sequence<int, side>();
  Row next[side];
#pragma GCC unroll 4
  for (int bit = 1; bit < side; bit *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < side / 2; ++i) {
      next[2 * i] = interleave<false>(rows[i], rows[i + side / 2], columns);
      next[2 * i + 1] = interleave<true>(rows[i], rows[i + side / 2], columns);
    }
#pragma GCC unroll 16
    for (int i = 0; i < side; ++i) rows[i] = next[i];
  }
}

/// y[j, i] = each(x[i, j], j) for i, j < side.
template <int side, class E, class Each>
LADON_INLINE void transpose_square(const E* x, std::int64_t x_row, E* y, std::int64_t y_row,
                                   const Each& each) {
  typedef E Row __attribute__((vector_size(side * sizeof(E))));
  Row rows[side];
#pragma GCC unroll 16
  for (int i = 0; i < side; ++i) rows[i] = each(load<Row>(x + i * x_row), 0);
  turn_square<side>(rows);
#pragma GCC unroll 16
  for (int j = 0; j < side; ++j) __builtin_memcpy(y + j * y_row, &rows[j], sizeof(Row));
}

/// y [columns, rows], y[j, i] = each(x[i, j], j) for x [rows, columns]. Uses squares of side × side
/// elements, at the edges smaller squares with rows of at least 16 bytes, and single elements where
/// no square fits.
template <int side, class E, class Each>
void transpose_by(std::int64_t rows, std::int64_t columns, const E* x, std::int64_t x_row, E* y,
                  std::int64_t y_row, const Each& each) {
  if constexpr (side * sizeof(E) >= 16) {
    const std::int64_t whole_rows = rows / side * side, whole_columns = columns / side * side;
    const auto from = [&each](std::int64_t column) {
      return [&each, column](auto v, std::int64_t j) { return each(v, column + j); };
    };
    for (std::int64_t i = 0; i < whole_rows; i += side)
      for (std::int64_t j = 0; j < whole_columns; j += side)
        transpose_square<side>(x + i * x_row + j, x_row, y + j * y_row + i, y_row, from(j));
    if (whole_columns < columns)
      transpose_by<side / 2>(whole_rows, columns - whole_columns, x + whole_columns, x_row,
                             y + whole_columns * y_row, y_row, from(whole_columns));
    if (whole_rows < rows)
      transpose_by<side / 2>(rows - whole_rows, columns, x + whole_rows * x_row, x_row,
                             y + whole_rows, y_row, each);
  } else {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const E v = each(load<E>(x + i * x_row + j), j);
        __builtin_memcpy(y + j * y_row + i, &v, sizeof v);
      }
  }
}

/// The side of the largest squares: the elements of a machine vector, or of 16 bytes for types
/// below 4 bytes.
template <class E>
constexpr int square_side = sizeof(E) < 4 ? 16 / sizeof(E) : vector_bytes / sizeof(E);

}  // namespace ladon::kernels::LADON_LEVEL
