#pragma once
// A block of a matrix product in registers, of any number of rows and vectors.

#include "ladon/core/kernels/loops/products/register_block.h"

namespace ladon::kernels::LADON_LEVEL {

using std::int64_t;

/// A block of a matrix product C = A·B: R rows of V vectors each.
template <int R, int V, class T>
struct Block {
  Row<T> sum[R][V] = {};

  /// Adds x(i)·b(j) to each sum[i][j], where x(i) is an element of A and b(j) a vector of B.
  template <class X, class B>
  LADON_INLINE void add_product(const X& x, const B& b) {
    Row<T> of_b[V];
#pragma GCC unroll 8
    for (int j = 0; j < V; ++j) of_b[j] = b(j);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const T of_a = x(i);
#pragma GCC unroll 8
      for (int j = 0; j < V; ++j) sum[i][j] += of_a * of_b[j];
    }
  }

  /// c[i] ← sum[i] + plus[i·plus_row], or sum[i] if plus is null, for `columns` columns.
  LADON_INLINE void store(int64_t columns, const T* plus, int64_t plus_row, T* c,
                          int64_t c_row) const {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
      for (int j = 0; j < V; ++j) {
        const int64_t at = j * row_lanes<T>;
        T* to = c + i * c_row + at;
        const T* more = plus ? plus + i * plus_row + at : plus;
        if (columns - at >= row_lanes<T>) {
          set_row(to, more ? sum[i][j] + row_at(more) : sum[i][j]);
          continue;
        }
        T part[row_lanes<T>];
        set_row(part, sum[i][j]);
        for (int64_t l = 0; l < columns - at; ++l) to[l] = part[l] + (more ? more[l] : T(0));
      }
  }
};

/// Returns a function for add_product() that maps j to the j-th of the vectors that begin at b.
template <class T>
LADON_INLINE auto rows_from(const T* b) {
  return [b](int j) { return row_at(b + j * row_lanes<T>); };
}

}  // namespace ladon::kernels::LADON_LEVEL
