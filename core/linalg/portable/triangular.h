#pragma once
// Solution of triangular systems of equations of any strides, block by block.

#include <algorithm>
#include <vector>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/linalg/blas.h"

namespace ladon::routines {

/// A triangular matrix, lower or upper; if `unit`, its diagonal is 1, whatever is stored there.
template <class T>
struct Triangle {
  blas::Matrix<const T> matrix;
  bool lower;
  bool unit;

  Triangle transposed() const { return {matrix.transposed(), !lower, unit}; }
};

/// C ← C − A·B, [m,k] · [k,n] → [m,n], for a C with its rows or its columns contiguous.
template <class T>
void subtract_product(std::int64_t m, std::int64_t n, std::int64_t k, blas::Matrix<const T> a,
                      blas::Matrix<const T> b, blas::Matrix<T> c) {
  if (c.column == 1)
    blas::gemm_serial<T>(m, n, k, -1, a, b, 1, c);
  else
    blas::gemm_serial<T>(n, m, k, -1, b.transposed(), a.transposed(), 1, c.transposed());
}

/// X ← A⁻¹·X for a triangular A [n, n] and an X [n, k] with its rows or its columns contiguous. For
/// each block of rows of X, one product subtracts the contribution of the rows that are solved
/// already; then the block is solved row after row (Golub and Van Loan, Matrix Computations, 3.1).
template <class T>
void solve(std::int64_t n, std::int64_t k, Triangle<T> a, blas::Matrix<T> x) {
  constexpr std::int64_t block = 32, strip = 256;
  const auto element = [&a](std::int64_t i, std::int64_t j) {
    return a.matrix.data[i * a.matrix.row + j * a.matrix.column];
  };
  std::vector<T> rows(static_cast<std::size_t>(block * std::min(strip, k)));
  for (std::int64_t done = 0; done < n; done += block) {
    const std::int64_t here = std::min(block, n - done);
    const std::int64_t first = a.lower ? done : n - done - here, from = a.lower ? 0 : first + here;
    if (done > 0)
      subtract_product<T>(here, k, done,
                          {a.matrix.data + first * a.matrix.row + from * a.matrix.column,
                           a.matrix.row, a.matrix.column},
                          {x.data + from * x.row, x.row, x.column},
                          {x.data + first * x.row, x.row, x.column});
    for (std::int64_t c = 0; c < k; c += strip) {
      const std::int64_t width = std::min(strip, k - c);
      T* held = rows.data();  // the block's rows of X, in the order in which they are solved
      for (std::int64_t s = 0; s < here; ++s) {
        const std::int64_t i = a.lower ? first + s : first + here - 1 - s;
        T* row = held + s * width;
        T factors[block];
        for (std::int64_t p = 0; p < s; ++p)
          factors[p] = -element(i, a.lower ? first + p : first + here - 1 - p);
        for (std::int64_t j = 0; j < width; ++j) row[j] = x.data[i * x.row + (c + j) * x.column];
        kernels::loops().of<T>().symmetric.add_rows(s, width, factors, held, width, row);
        const T pivot = a.unit ? T(1) : element(i, i);
        for (std::int64_t j = 0; j < width; ++j)
          x.data[i * x.row + (c + j) * x.column] = row[j] /= pivot;
      }
    }
  }
}

}  // namespace ladon::routines
