#pragma once
// Packing, and products of panels (gemm.h). The template parameter Products adds the product of two
// panels to a block of C:
//   Products::add(k, a, b, sum)

#include "ladon/core/kernels/loops/products/register_block.h"
#include "ladon/core/kernels/loops/products/squares.h"

namespace ladon::kernels::LADON_LEVEL {

using std::int64_t;

/// The sums of a block of a product C = A·B, in registers.
template <class T>
using Sums = Row<T>[block_rows][block_vectors];

/// Products of panels by multiply-adds (fused if possible) in the precision of the elements.
struct Fused {
  template <class T>
  LADON_INLINE static void add(int64_t k, const T* a, const T* b, Sums<T>& sum) {
    for (int64_t p = 0; p < k; ++p) {
      alignas(vector_bytes) Row<T> of_b[block_vectors];
#pragma GCC unroll 2
      for (int j = 0; j < block_vectors; ++j)
        of_b[j] = row_at(b + p * block_columns<T> + j * row_lanes<T>);
#pragma GCC unroll 8
      for (int i = 0; i < block_rows; ++i) {
        const T x = a[p * block_rows + i];
#pragma GCC unroll 2
        for (int j = 0; j < block_vectors; ++j) sum[i][j] += x * of_b[j];
      }
    }
  }
};

/// Packs lines that are adjacent in memory (line stride 1): 16 steps at a time for all panels, so
/// that cache lines stay in the first-level cache until all of their elements are used.
template <int64_t width, class T>
void pack_side_by_side(int64_t lines, int64_t k, const T* x, int64_t step, T* to) {
  constexpr int64_t together = 16;
  for (int64_t first = 0; first < k; first += together)
    for (int64_t i = 0; i < lines; i += width) {
      const int64_t last = first + together < k ? first + together : k;
      const int64_t here = lines - i < width ? lines - i : width;
      for (int64_t p = first; p < last; ++p) {
        T* line = to + i * k + p * width;
        if (here == width)
          __builtin_memcpy(line, x + p * step + i, width * sizeof(T));
        else
          for (int64_t l = 0; l < width; ++l) line[l] = l < here ? x[p * step + i + l] : T(0);
      }
    }
}

template <int64_t width, class T>
void pack_panel(int64_t lines, int64_t k, const T* x, int64_t line, int64_t step, T* to) {
  if (lines < width)
    for (int64_t i = 0; i < k * width; ++i) to[i] = T(0);
  if (step == 1)
    return transpose_by<square_side<T>>(lines, k, x, line, to, width,
                                        [](auto v, int64_t) { return v; });
  for (int64_t p = 0; p < k; ++p)
    for (int64_t i = 0; i < lines; ++i) to[p * width + i] = x[i * line + p * step];
}

template <int64_t width, class T>
void pack(int64_t lines, int64_t k, const T* x, int64_t line, int64_t step, T* to) {
  if (line == 1) return pack_side_by_side<width>(lines, k, x, step, to);
  for (; lines > 0; lines -= width) {
    pack_panel<width>(lines < width ? lines : width, k, x, line, step, to);
    x += width * line;
    to += width * k;
  }
}

/// Computes one whole block of C; `row`, if it is not null, has an element for each column of the
/// block.
template <class Products, class T>
LADON_INLINE void multiply_block(int64_t k, T alpha, const T* a, const T* b, T beta, const T* row,
                                 T* c, int64_t c_row) {
  constexpr int lanes = row_lanes<T>;
  if (beta != T(0))  // prefetches C, which is read last, while the sums are computed
#pragma GCC unroll 8
    for (int i = 0; i < block_rows; ++i)
#pragma GCC unroll 2
      for (int j = 0; j < block_vectors; ++j) __builtin_prefetch(c + i * c_row + j * lanes, 1);
  alignas(vector_bytes) Sums<T> sum;
#pragma GCC unroll 8
  for (int i = 0; i < block_rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < block_vectors; ++j) sum[i][j] = Row<T>{};
  Products::add(k, a, b, sum);
#pragma GCC unroll 8
  for (int i = 0; i < block_rows; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < block_vectors; ++j) {
      T* to = c + i * c_row + j * lanes;
      if (row)
        set_row(to, alpha * sum[i][j] + row_at(row + j * lanes));
      else
        set_row(to, beta == T(0) ? alpha * sum[i][j] : alpha * sum[i][j] + beta * row_at(to));
    }
}

/// Computes a block that extends over the edge of C; only its first m rows and n columns lie in C.
/// `row` has n elements.
template <class Products, class T>
[[gnu::noinline]] void multiply_edge(int64_t m, int64_t n, int64_t k, T alpha, const T* a,
                                     const T* b, T beta, const T* row, T* c, int64_t c_row) {
  T block[block_rows * block_columns<T>], all[block_columns<T>] = {};
  for (int64_t j = 0; row && j < n; ++j) all[j] = row[j];
  for (int64_t i = 0; beta != T(0) && i < m; ++i)
    for (int64_t j = 0; j < n; ++j) block[i * block_columns<T> + j] = c[i * c_row + j];
  multiply_block<Products>(k, alpha, a, b, beta, row ? all : row, block, int64_t{block_columns<T>});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) c[i * c_row + j] = block[i * block_columns<T> + j];
}

/// Computes GemmLoops::multiply(). A panel of B stays in the first-level cache while it is
/// multiplied by all panels of A.
template <class Products, class T>
void multiply(int64_t m, int64_t n, int64_t k, T alpha, const T* left, const T* right, T beta,
              const T* row, T* c, int64_t c_row) {
  constexpr int64_t rows = block_rows, columns = block_columns<T>;
  for (int64_t j = 0; j < n; j += columns)
    for (int64_t i = 0; i < m; i += rows) {
      const T *a = left + i * k, *b = right + j * k, *here = row ? row + j : row;
      T* to = c + i * c_row + j;
      if (m - i >= rows && n - j >= columns)
        multiply_block<Products>(k, alpha, a, b, beta, here, to, c_row);
      else
        multiply_edge<Products>(m - i < rows ? m - i : rows, n - j < columns ? n - j : columns, k,
                                alpha, a, b, beta, here, to, c_row);
    }
}

}  // namespace ladon::kernels::LADON_LEVEL
