// Reductions of contiguous rows, and of columns of a row-major matrix.

#include <utility>

#include "ladon/core/kernels/loops/products/blocked.h"
#include "ladon/core/kernels/loops/table.h"
#include "ladon/core/kernels/reductions/reduction.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;
using std::uint64_t;

template <class T>
constexpr bool floating = std::is_floating_point_v<T>;

template <Reduce op, class T>
constexpr bool has_reduce = std::is_same_v<T, bool> ? op == Reduce::any || op == Reduce::all
                                                    : op != Reduce::any&& op != Reduce::all;

// Adds a term to an integer or boolean reduction, whose order does not matter.
template <Reduce op>
LADON_INLINE int64_t accumulate(int64_t a, int64_t x) {
  const auto u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(x);
  if constexpr (op == Reduce::prod)
    return static_cast<int64_t>(u * v);
  else if constexpr (op == Reduce::max)
    return x > a ? x : a;
  else if constexpr (op == Reduce::min)
    return x < a ? x : a;
  else if constexpr (op == Reduce::sum_squares)
    return static_cast<int64_t>(u + v * v);
  else if constexpr (op == Reduce::sum_abs)
    return static_cast<int64_t>(u + (x < 0 ? 0 - v : v));
  else
    return static_cast<int64_t>(u + v);
}
template <Reduce op>
LADON_INLINE bool accumulate(bool a, bool x) {
  return op == Reduce::any ? a | x : a & x;
}
template <Reduce op, class T>
LADON_INLINE T accumulate(T a, T x) {
  return combine<op>(a, term_of<op>(x));
}

template <Reduce op, class T>
constexpr T start() {
  if constexpr (floating<T>)
    return neutral<op, T>;
  else if constexpr (op == Reduce::max)
    return INT64_MIN;
  else if constexpr (op == Reduce::min)
    return INT64_MAX;
  else
    return op == Reduce::prod || op == Reduce::all;
}

template <Reduce op, class T>
T row(const T* x, int64_t n) {
  if constexpr (floating<T>) return reduce_row<op>(x, n);
  T y = start<op, T>();
  for (int64_t i = 0; i < n; ++i) y = accumulate<op>(y, x[i]);
  return y;
}

// The reduction of partial results: sums of squares are summed, not squared again.
template <Reduce op>
constexpr Reduce merge = op == Reduce::sum_squares || op == Reduce::sum_abs ? Reduce::sum : op;

constexpr int64_t column_block = 512, row_block = 32;

// Reduces each column over a few rows, four rows at a time, in order.
template <Reduce op, class T>
void few_rows(const T* x, int64_t rows, int64_t stride, int64_t columns, T* y) {
  constexpr T zero = start<op, T>();
#pragma omp simd
  for (int64_t c = 0; c < columns; ++c) y[c] = accumulate<op>(zero, x[c]);
  int64_t r = 1;
  for (; r + 4 <= rows; r += 4) {
    const T *x0 = x + r * stride, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) {
      const T a = accumulate<op>(accumulate<op>(zero, x0[c]), x1[c]);
      const T b = accumulate<op>(accumulate<op>(zero, x2[c]), x3[c]);
      y[c] = accumulate<merge<op>>(y[c], accumulate<merge<op>>(a, b));
    }
  }
  for (; r < rows; ++r) {
    const T* xr = x + r * stride;
#pragma omp simd
    for (int64_t c = 0; c < columns; ++c) y[c] = accumulate<op>(y[c], xr[c]);
  }
}

// Reduces each column over many rows: the upper and the lower half of the rows are reduced
// separately, and the two results are combined. There are at most column_block columns.
template <Reduce op, class T>
void many_rows(const T* x, int64_t rows, int64_t stride, int64_t columns, T* y) {
  if (rows <= row_block) return few_rows<op>(x, rows, stride, columns, y);
  const int64_t upper = (rows + row_block - 1) / row_block / 2 * row_block;
  T lower[column_block];
  many_rows<op>(x, upper, stride, columns, y);
  many_rows<op>(x + upper * stride, rows - upper, stride, columns, lower);
#pragma omp simd
  for (int64_t c = 0; c < columns; ++c) y[c] = accumulate<merge<op>>(y[c], lower[c]);
}

template <Reduce op, class T>
void columns(const T* x, int64_t rows, int64_t stride, int64_t n, T* y) {
  for (int64_t c = 0; c < n; c += column_block)
    many_rows<op>(x + c, rows, stride, n - c < column_block ? n - c : column_block, y + c);
}

template <Reduce op, class T>
constexpr typename LoopsOf<T>::ReduceLoop row_loop() {
  if constexpr (has_reduce<op, T>)
    return row<op, T>;
  else
    return nullptr;
}
template <Reduce op, class T>
constexpr typename LoopsOf<T>::ReduceColumnsLoop columns_loop() {
  if constexpr (has_reduce<op, T>)
    return columns<op, T>;
  else
    return nullptr;
}

template <class T, int... i>
void add_entries(LoopsOf<T>& t, std::integer_sequence<int, i...>) {
  static constexpr typename LoopsOf<T>::ReduceLoop rows[] = {row_loop<Reduce(i), T>()...};
  static constexpr
      typename LoopsOf<T>::ReduceColumnsLoop all_columns[] = {columns_loop<Reduce(i), T>()...};
  t.reduce = rows;
  t.reduce_columns = all_columns;
}

}  // namespace

void add_reductions(Loops& table) {
  constexpr auto all = std::make_integer_sequence<int, int(Reduce::count)>();
  add_entries(table.boolean, all);
  add_entries(table.i64, all);
  add_entries(table.f32, all);
  add_entries(table.f64, all);
}

}  // namespace ladon::kernels::LADON_LEVEL
