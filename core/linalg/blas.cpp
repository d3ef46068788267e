#include "ladon/core/linalg/blas.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/kernels/products/packed_product.h"
#include "ladon/core/linalg/routines.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/matmul_precision.h"

namespace ladon {
namespace {

std::atomic<MatmulPrecision> precision_of_floats = MatmulPrecision::highest;

}  // namespace

void set_matmul_precision(MatmulPrecision precision) { precision_of_floats = precision; }
MatmulPrecision matmul_precision() { return precision_of_floats; }

}  // namespace ladon

namespace ladon::blas {
namespace {

constexpr std::int64_t int_limit = std::numeric_limits<int>::max();
constexpr double least_work = 0x1p17;   // multiply-adds that make up one task
constexpr double packed_item = 0x1p26;  // a batch uses packed_product() from this work per product
constexpr std::int64_t block_limit = std::int64_t{1} << 30;

std::int64_t pieces_of(std::int64_t n, std::int64_t piece) { return (n + piece - 1) / piece; }

using routines::Operand;

// Whether a rows × columns matrix is row-major to BLAS. An axis of size 1 may have any stride.
bool row_major(std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column) {
  return (columns == 1 || column == 1) && (rows == 1 || (row >= columns && row <= int_limit));
}

template <class T>
Operand<T> operand(std::int64_t rows, std::int64_t columns, Matrix<const T> x,
                   std::vector<T>& packed) {
  if (row_major(rows, columns, x.row, x.column))
    return {x.data, false, static_cast<int>(rows == 1 ? columns : x.row)};
  if (row_major(columns, rows, x.column, x.row))
    return {x.data, true, static_cast<int>(columns == 1 ? rows : x.column)};
  packed.resize(rows * columns);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      packed[i * columns + j] = x.data[i * x.row + j * x.column];
  return {packed.data(), false, static_cast<int>(columns)};
}

// y ← alpha·A·x + beta·y.   [m,k] · [k] → [m]
template <class T>
void matrix_vector(std::int64_t m, std::int64_t k, T alpha, Matrix<const T> a, const T* x,
                   std::int64_t x_step, T beta, T* y, std::int64_t y_step) {
  std::vector<T> packed_a, packed_x;
  if (k > 1 && (x_step < 1 || x_step > int_limit)) {
    for (std::int64_t i = 0; i < k; ++i) packed_x.push_back(x[i * x_step]);
    x = packed_x.data();
    x_step = 1;
  }
  routines::gemv(static_cast<int>(m), static_cast<int>(k), alpha, operand(m, k, a, packed_a), x,
                 k == 1 ? 1 : static_cast<int>(x_step), beta, y,
                 m == 1 ? 1 : static_cast<int>(y_step));
}

// One call of BLAS, for sizes of at least 1 that fit an int.
template <class T>
void product(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> a,
             Matrix<const T> b, T beta, Matrix<T> c) {
  if (m == 1)
    return matrix_vector(n, k, alpha, b.transposed(), a.data, a.column, beta, c.data, c.column);
  if (c.row > int_limit) {
    for (std::int64_t i = 0; i < m; ++i)
      product<T>(1, n, k, alpha, {a.data + i * a.row, a.row, a.column}, b, beta,
                 {c.data + i * c.row, c.row, c.column});
    return;
  }
  if (n == 1) return matrix_vector(m, k, alpha, a, b.data, b.row, beta, c.data, c.row);
  std::vector<T> packed_a, packed_b;
  const Operand<T> left = operand(m, k, a, packed_a), right = operand(k, n, b, packed_b);
  routines::gemm(static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), alpha, left, right,
                 beta, c.data, static_cast<int>(c.row));
}

template <class T>
void scale(std::int64_t m, std::int64_t n, T beta, Matrix<T> c) {
  if (beta == 1) return;
  for (std::int64_t i = 0; i < m; ++i) {
    T* row = c.data + i * c.row;
    if (beta == 0)
      std::fill_n(row, n, T{0});
    else
      std::for_each_n(row, n, [beta](T& x) { x *= beta; });
  }
}

template <class T>
Matrix<T> at(Matrix<T> x, std::int64_t i, std::int64_t j) {
  return {x.data + i * x.row + j * x.column, x.row, x.column};
}

// Number of multiply-adds, or number of elements if k = 0; a double, since it may exceed 64 bits.
double work_of(std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k) {
  return static_cast<double>(count) * static_cast<double>(m) * static_cast<double>(n) *
         static_cast<double>(std::max<std::int64_t>(k, 1));
}

// The sizes of a piece of a product.
struct Cut {
  std::int64_t m, n, k;
};

// Cuts a product into about cbrt(m·n·k)/64 pieces. Doubling all sizes doubles this number, so
// larger products have both more and larger pieces. Each piece must be packed, which costs least if
// the sides m and n of a tile are equal. Cutting the sum (k) needs a buffer, so it is done only if
// the sum is four times as long as the sides. Tiles under 64 × 64 run far below the peak speed. A
// product with a vector is bound by memory, so each of its multiply-adds counts as eight.
Cut cut(std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k) {
  const double work = work_of(count, m, n, k) * (std::min(m, n) == 1 ? 8 : 1);
  const auto wanted = static_cast<std::int64_t>(std::min(std::cbrt(work) / 64, 1024.0));
  Cut c{m, n, k};
  while (count * pieces_of(m, c.m) * pieces_of(n, c.n) * pieces_of(k, c.k) < wanted) {
    const std::int64_t side = std::max(c.m, c.n);
    if (c.k > 1024 && c.k > 4 * side)
      c.k = pieces_of(c.k, 2);
    else if (side > 64)
      (c.m >= c.n ? c.m : c.n) = pieces_of(side, 64) * 32;
    else
      break;
  }
  return c;
}

}  // namespace

template <class T>
void gemm_serial(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> a,
                 Matrix<const T> b, T beta, Matrix<T> c) {
  detail::require(n <= 1 || c.column == 1, "the result of gemm has column stride 1");
  if (m <= 0 || n <= 0) return;
  if (k <= 0) return scale(m, n, beta, c);
  std::int64_t rows = block_limit, columns = block_limit;
  // OpenBLAS multiplies small matrices without packing them; a product with a short sum is faster
  // as many small products than as a single large product.
  if (k <= 64 && m > 1 && n > 1 && m * n * k > 1'000'000 && b.column == 1)
    rows = 128, columns = 64;
  else if (kernels::packs(m, n, k, b.column == 1))
    return kernels::packed_product<T>(kernels::On::this_thread, m, n, k, alpha, a, b, beta, c);
  for (std::int64_t p = 0; p < k; p += block_limit)
    for (std::int64_t i = 0; i < m; i += rows)
      for (std::int64_t j = 0; j < n; j += columns)
        product(std::min(rows, m - i), std::min(columns, n - j), std::min(block_limit, k - p),
                alpha, at(a, i, p), at(b, p, j), p == 0 ? beta : T{1}, at(c, i, j));
}

template <class T>
void gemm_batched(std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                  Matrix<const T> a, std::int64_t a_batch, Matrix<const T> b, std::int64_t b_batch,
                  T beta, Matrix<T> c, std::int64_t c_batch) {
  if (count <= 0 || m <= 0 || n <= 0) return;
  k = std::max<std::int64_t>(k, 0);
  // If the matrices A follow each other in memory, row below row, and all use the same B, this is
  // one tall product.
  if (count > 1 && b_batch == 0 && a_batch == m * a.row && c_batch == m * c.row)
    return gemm(count * m, n, k, alpha, a, b, beta, c);
  if (k == 0 || work_of(count, m, n, k) <= least_work) {
    for (std::int64_t i = 0; i < count; ++i)
      gemm_serial(m, n, k, alpha, {a.data + i * a_batch, a.row, a.column},
                  {b.data + i * b_batch, b.row, b.column}, beta,
                  {c.data + i * c_batch, c.row, c.column});
    return;
  }
  if (kernels::packs(m, n, k, b.column == 1) &&
      (count == 1 || work_of(1, m, n, k) >= packed_item)) {
    for (std::int64_t i = 0; i < count; ++i)
      kernels::packed_product<T>(
          kernels::On::all_threads, m, n, k, alpha, {a.data + i * a_batch, a.row, a.column},
          {b.data + i * b_batch, b.row, b.column}, beta, {c.data + i * c_batch, c.row, c.column});
    return;
  }
  const Cut piece = cut(count, m, n, k);
  const std::int64_t rows = pieces_of(m, piece.m), columns = pieces_of(n, piece.n);
  const std::int64_t sums = k > 0 ? pieces_of(k, piece.k) : 1;
  // The first piece of a sum that is cut goes to C, the other pieces to separate buffers.
  std::vector<T> buffer(count * (sums - 1) * m * n);
  const auto part = [&](std::int64_t item, std::int64_t sum) -> Matrix<T> {
    if (sum == 0) return {c.data + item * c_batch, c.row, c.column};
    return {buffer.data() + (item * (sums - 1) + sum - 1) * m * n, n, 1};
  };
  const double work = work_of(1, piece.m, piece.n, piece.k);
  const auto grain = static_cast<std::int64_t>(std::max(1.0, least_work / work));
  parallel::for_range(count * sums * rows * columns, grain, [&](std::int64_t t, std::int64_t end) {
    for (; t < end; ++t) {
      const std::int64_t j = t % columns * piece.n, i = t / columns % rows * piece.m;
      const std::int64_t s = t / (columns * rows) % sums, item = t / (columns * rows * sums);
      const std::int64_t p = s * piece.k;
      const Matrix<const T> left{a.data + item * a_batch, a.row, a.column};
      const Matrix<const T> right{b.data + item * b_batch, b.row, b.column};
      gemm_serial(std::min(piece.m, m - i), std::min(piece.n, n - j), std::min(piece.k, k - p),
                  alpha, at(left, i, p), at(right, p, j), s == 0 ? beta : T{0},
                  at(part(item, s), i, j));
    }
  });
  if (sums == 1) return;
  parallel::for_range(count * m, pieces_of(4096, n), [&](std::int64_t row, std::int64_t end) {
    for (; row < end; ++row) {
      T* total = at(part(row / m, 0), row % m, 0).data;
      for (std::int64_t s = 1; s < sums; ++s) {
        const T* more = at(part(row / m, s), row % m, 0).data;
        for (std::int64_t j = 0; j < n; ++j) total[j] += more[j];
      }
    }
  });
}

template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> a,
          Matrix<const T> b, T beta, Matrix<T> c) {
  gemm_batched(std::int64_t{1}, m, n, k, alpha, a, 0, b, 0, beta, c, 0);
}

template <class T>
void syrk(std::int64_t n, std::int64_t k, T alpha, Matrix<const T> a, T beta, Matrix<T> c) {
  detail::require(n <= 1 || c.column == 1, "the result of syrk has column stride 1");
  if (n <= 0) return;
  if (k <= 0) return scale(n, n, beta, c);
  kernels::packed_square(n, k, alpha, a, beta, c);
}

#define LADON_BLAS(T)                                                                         \
  template void gemm(std::int64_t, std::int64_t, std::int64_t, T, Matrix<const T>,            \
                     Matrix<const T>, T, Matrix<T>);                                          \
  template void gemm_serial(std::int64_t, std::int64_t, std::int64_t, T, Matrix<const T>,     \
                            Matrix<const T>, T, Matrix<T>);                                   \
  template void syrk(std::int64_t, std::int64_t, T, Matrix<const T>, T, Matrix<T>);           \
  template void gemm_batched(std::int64_t, std::int64_t, std::int64_t, std::int64_t, T,       \
                             Matrix<const T>, std::int64_t, Matrix<const T>, std::int64_t, T, \
                             Matrix<T>, std::int64_t);
LADON_BLAS(float)
LADON_BLAS(double)
#undef LADON_BLAS

}  // namespace ladon::blas
