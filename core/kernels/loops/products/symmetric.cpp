#include "ladon/core/kernels/loops/products/symmetric.h"

#include "ladon/core/kernels/loops/products/register_block.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

constexpr int rows_at_once = 4;  // each element of x and y is loaded once for these rows

template <class T>
LADON_INLINE T sum_of(const Row<T>& v) {
  T sum = 0;
  for (int i = 0; i < row_lanes<T>; ++i) sum += v[i];
  return sum;
}

/// Calls body(i, rows) for groups of rows [first, last).
template <class Body>
LADON_INLINE void in_groups(int64_t first, int64_t last, const Body& body) {
  for (int64_t i = first; i < last; i += rows_at_once)
    with_number<rows_at_once>(last - i, [&](auto rows) { body(i, rows); });
}

template <class T>
void multiply(const T* a, int64_t stride, int64_t first, int64_t last, const T* x, T* y) {
  in_groups(first, last, [&](int64_t i, auto rows) {
    constexpr int R = rows.value;
    const T* row = a + i * stride;
    Row<T> own[R] = {};
    T factor[R];
    for (int r = 0; r < R; ++r) factor[r] = x[i + r];
    int64_t j = 0;
    for (; j + row_lanes<T> <= i; j += row_lanes<T>) {
      const Row<T> of_x = row_at(x + j);
      Row<T> of_y = row_at(y + j);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const Row<T> of_a = row_at(row + r * stride + j);
        own[r] += of_a * of_x;
        of_y += of_a * factor[r];
      }
      set_row(y + j, of_y);
    }
    for (int r = 0; r < R; ++r) {
      T sum = sum_of<T>(own[r]);
      for (int64_t k = j; k < i + r; ++k) {
        sum += row[r * stride + k] * x[k];
        y[k] += row[r * stride + k] * factor[r];
      }
      y[i + r] += sum + row[r * stride + i + r] * factor[r];
    }
  });
}

template <class T>
void dots(int64_t rows, int64_t n, const T* p, int64_t stride, const T* x, T* y) {
  in_groups(0, rows, [&](int64_t i, auto number) {
    constexpr int R = number.value;
    const T* row = p + i * stride;
    Row<T> sums[R] = {};
    int64_t j = 0;
    for (; j + row_lanes<T> <= n; j += row_lanes<T>)
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sums[r] += row_at(row + r * stride + j) * row_at(x + j);
    for (int r = 0; r < R; ++r) {
      y[i + r] = sum_of<T>(sums[r]);
      for (int64_t k = j; k < n; ++k) y[i + r] += row[r * stride + k] * x[k];
    }
  });
}

template <class T>
void add_rows(int64_t rows, int64_t n, const T* c, const T* p, int64_t stride, T* y) {
  in_groups(0, rows, [&](int64_t i, auto number) {
    constexpr int R = number.value;
    const T* row = p + i * stride;
    T factor[R];
    for (int r = 0; r < R; ++r) factor[r] = c[i + r];
    int64_t j = 0;
    for (; j + row_lanes<T> <= n; j += row_lanes<T>) {
      Row<T> of_y = row_at(y + j);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) of_y += row_at(row + r * stride + j) * factor[r];
      set_row(y + j, of_y);
    }
    for (; j < n; ++j)
      for (int r = 0; r < R; ++r) y[j] += row[r * stride + j] * factor[r];
  });
}

template <class T>
constexpr SymmetricLoops<T> loops_of = {multiply<T>, dots<T>, add_rows<T>};

}  // namespace

void add_symmetric(Loops& table) {
  table.f32.symmetric = loops_of<float>;
  table.f64.symmetric = loops_of<double>;
}

}  // namespace ladon::kernels::LADON_LEVEL
