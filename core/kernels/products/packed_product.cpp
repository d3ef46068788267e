#include "ladon/core/kernels/products/packed_product.h"

#include <algorithm>
#include <numeric>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/matmul_precision.h"
#include "ladon/core/storage.h"

namespace ladon::kernels {
namespace {

using std::int64_t;

// A panel of B of `sum_length` rows fits into the first-level cache together with the parts of A
// and C in use, and 128 rows of A of this length fit into the second-level cache.
constexpr int64_t sum_length = 256, most_rows = 128, least_rows = 32, least_columns = 128;
constexpr int64_t packed_elements = int64_t{1} << 22;  // elements of B that are packed at a time

int64_t pieces_of(int64_t n, int64_t piece) { return (n + piece - 1) / piece; }
int64_t rounded_up(int64_t n, int64_t unit) { return pieces_of(n, unit) * unit; }

/// The loops of the requested precision (core/matmul_precision.h).
template <class T>
const GemmLoops<T>& gemm_loops() {
  if constexpr (sizeof(T) == 4)
    if (matmul_precision() == MatmulPrecision::medium && has_bf16_products())
      return loops().gemm_of_bf16;
  return loops().of<T>().gemm;
}

template <class T>
T* room(Storage& storage, int64_t elements) {
  storage = Storage(static_cast<std::size_t>(elements) * sizeof(T));
  return reinterpret_cast<T*>(storage.bytes());
}

template <class Body>
void for_range(On on, int64_t n, int64_t grain, const Body& body) {
  if (on == On::all_threads) return parallel::for_range(n, grain, body);
  body(int64_t{0}, n);
}

/// Division of C into tasks, each a stripe of rows and a group of columns: 16 tasks, or up to 128
/// of at least 4 million multiply-adds each. Every stripe reads B again, and every group packs A
/// again. So stripes are halved first if B stays in the second-level cache, and groups if it does
/// not. Sums are not cut.
template <class T>
struct Cut {
  Cut(int64_t m, int64_t n, int64_t k, int64_t row_unit, int64_t column_unit)
      : rows(rounded_up(most_rows, row_unit)), columns(rounded_up(n, column_unit)) {
    const double size_of_b = static_cast<double>(n) * static_cast<double>(k);
    const double work = static_cast<double>(m) * size_of_b;
    const bool stays = size_of_b * sizeof(T) <= 0x1p21;
    const int64_t lowest = stays ? least_rows : 2 * least_rows;
    const int64_t narrowest = stays ? 2 * least_columns : least_columns;
    const auto enough = [&] {
      const auto tasks = static_cast<double>(pieces_of(m, rows) * pieces_of(n, columns));
      // From 16 tasks on, there is no cut that would leave tasks of less than 2²² multiply-adds.
      return tasks >= 64 || (tasks >= 16 && work < 0x1p23 * tasks);
    };
    while (!enough()) {
      if (rows > lowest && (stays || columns <= narrowest))
        rows = rounded_up(pieces_of(rows, 2), row_unit);
      else if (columns > narrowest)
        columns = rounded_up(pieces_of(columns, 2), column_unit);
      else
        break;
    }
  }
  int64_t rows, columns;
};

/// Packs A [m, k] in panels of rows, all of length k.
template <class T>
void pack_left(int64_t m, int64_t k, blas::Matrix<const T> a, T* to) {
  const GemmLoops<T>& loop = gemm_loops<T>();
  const int64_t grain = std::max<int64_t>(1, (1 << 15) / (k * loop.rows));
  parallel::for_range(pieces_of(m, loop.rows), grain, [&](int64_t i, int64_t end) {
    i *= loop.rows, end *= loop.rows;
    loop.pack_left(std::min(m, end) - i, k, a.data + i * a.row, a.row, a.column, to + i * k);
  });
}

/// Packs B [k, n] in panels, in blocks of `sum_length` rows: the block that begins at row p is at
/// p·(padded n), and in it column j is at j·(the block's length).
template <class T>
void pack_right(On on, int64_t n, int64_t k, blas::Matrix<const T> b, T* to) {
  const GemmLoops<T>& loop = gemm_loops<T>();
  const int64_t width = loop.columns, panels = pieces_of(n, width);
  const int64_t grain = std::max<int64_t>(1, (1 << 15) / (sum_length * width));
  for_range(on, panels * pieces_of(k, sum_length), grain, [&](int64_t i, int64_t end) {
    for (; i < end; ++i) {
      const int64_t p = i / panels * sum_length, j = i % panels * width;
      const int64_t length = std::min(sum_length, k - p);
      loop.pack_right(std::min(width, n - j), length, b.data + p * b.row + j * b.column, b.column,
                      b.row, to + p * panels * width + j * length);
    }
  });
}

/// The product with a B that is packed already. A task packs its rows of A, which then stay in the
/// second-level cache.
template <class T>
void multiply(On on, int64_t m, int64_t n, int64_t k, T alpha, blas::Matrix<const T> a,
              const T* right, T beta, const T* row, blas::Matrix<T> c) {
  const GemmLoops<T>& loop = gemm_loops<T>();
  const int64_t padded = rounded_up(n, loop.columns);
  const Cut<T> cut(m, n, k, loop.rows, loop.columns);
  const int64_t stripes = pieces_of(m, cut.rows), groups = pieces_of(n, cut.columns);
  const double work = static_cast<double>(cut.rows) * static_cast<double>(cut.columns * k);
  const auto grain = static_cast<int64_t>(std::max(1.0, 0x1p17 / work));
  for_range(on, stripes * groups, grain, [&](int64_t t, int64_t end) {
    Storage own;
    T* left = room<T>(own, cut.rows * std::min(k, sum_length));
    for (; t < end; ++t) {
      const int64_t i = t / groups * cut.rows, j = t % groups * cut.columns;
      const int64_t rows = std::min(cut.rows, m - i), columns = std::min(cut.columns, n - j);
      for (int64_t p = 0; p < k; p += sum_length) {
        const int64_t length = std::min(sum_length, k - p);
        loop.pack_left(rows, length, a.data + i * a.row + p * a.column, a.row, a.column, left);
        loop.multiply(rows, columns, length, alpha, left, right + p * padded + j * length,
                      p == 0 ? beta : T(1), row && p == 0 ? row + j : nullptr,
                      c.data + i * c.row + j, c.row);
      }
    }
  });
}

}  // namespace

bool packs(int64_t m, int64_t n, int64_t k, bool dense_rows) {
  return std::min({m, n, k}) >= 32 && k <= 8 * std::max(m, n) &&
         static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) >=
             (dense_rows ? 1e6 : 0x1p18);
}

template <class T>
void packed_product(On on, int64_t m, int64_t n, int64_t k, T alpha, blas::Matrix<const T> a,
                    blas::Matrix<const T> b, T beta, blas::Matrix<T> c, const T* row) {
  const int64_t unit = gemm_loops<T>().columns;
  const int64_t sums = std::min(k, packed_elements / unit / sum_length * sum_length);
  const int64_t columns = std::max(unit, packed_elements / sums / unit * unit);
  Storage held;
  T* right = room<T>(held, rounded_up(std::min(n, columns), unit) * sums);
  for (int64_t j = 0; j < n; j += columns)
    for (int64_t p = 0; p < k; p += sums) {
      const int64_t across = std::min(columns, n - j), length = std::min(sums, k - p);
      pack_right<T>(on, across, length, {b.data + p * b.row + j * b.column, b.row, b.column},
                    right);
      multiply<T>(on, m, across, length, alpha, {a.data + p * a.column, a.row, a.column}, right,
                  p == 0 ? beta : T(1), row && p == 0 ? row + j : nullptr,
                  {c.data + j, c.row, c.column});
    }
}

template <class T>
void packed_square(int64_t n, int64_t k, T alpha, blas::Matrix<const T> a, T beta,
                   blas::Matrix<T> c) {
  const GemmLoops<T>& loop = gemm_loops<T>();
  const int64_t side = rounded_up(most_rows, std::lcm(loop.rows, loop.columns));
  const int64_t across = pieces_of(n, side), most = std::min(k, sum_length);
  Storage of_left, of_right;
  T* left = room<T>(of_left, rounded_up(n, loop.rows) * most);
  T* right = room<T>(of_right, rounded_up(n, loop.columns) * most);
  for (int64_t p = 0; p < k; p += sum_length) {
    const int64_t length = std::min(sum_length, k - p);
    const blas::Matrix<const T> part{a.data + p * a.column, a.row, a.column};
    pack_left(n, length, part, left);
    pack_right(On::all_threads, n, length, part.transposed(), right);
    parallel::for_range(across * (across + 1) / 2, 1, [&](int64_t t, int64_t) {
      int64_t row = 0;
      while (t > row) t -= ++row;
      const int64_t i = row * side, j = t * side;
      loop.multiply(std::min(side, n - i), std::min(side, n - j), length, alpha, left + i * length,
                    right + j * length, p == 0 ? beta : T(1), nullptr, c.data + i * c.row + j,
                    c.row);
    });
  }
}

template void packed_square(int64_t, int64_t, float, blas::Matrix<const float>, float,
                            blas::Matrix<float>);
template void packed_square(int64_t, int64_t, double, blas::Matrix<const double>, double,
                            blas::Matrix<double>);
template void packed_product(On, int64_t, int64_t, int64_t, float, blas::Matrix<const float>,
                             blas::Matrix<const float>, float, blas::Matrix<float>, const float*);
template void packed_product(On, int64_t, int64_t, int64_t, double, blas::Matrix<const double>,
                             blas::Matrix<const double>, double, blas::Matrix<double>,
                             const double*);

}  // namespace ladon::kernels
