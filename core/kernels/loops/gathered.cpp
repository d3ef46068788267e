#include "ladon/core/kernels/loops/gathered.h"

#include "ladon/core/kernels/loops/register_block.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

/// A block of C in registers: R rows of V vectors.
template <int R, int V, class T>
struct Block {
  Row<T> sum[R][V] = {};

  /// Adds x(i)·b[j] to each element.
  template <class X>
  LADON_INLINE void add_product(const X& x, const T* b) {
    Row<T> of_b[V];
#pragma GCC unroll 2
    for (int j = 0; j < V; ++j) of_b[j] = row_at(b + j * row_lanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const T of_a = x(i);
#pragma GCC unroll 2
      for (int j = 0; j < V; ++j) sum[i][j] += of_a * of_b[j];
    }
  }

  /// c[i] ← sum[i] + plus[i·plus_row], or sum[i] if plus is null, for as many columns as c has.
  LADON_INLINE void store(int64_t columns, const T* plus, int64_t plus_row, T* c,
                          int64_t c_row) const {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 2
      for (int j = 0; j < V; ++j) {
        const int64_t at = j * row_lanes<T>;
        T* to = c + i * c_row + at;
        const T* more = plus ? plus + i * plus_row + at : plus;
        if (columns - at >= row_lanes<T>) {
          row_at(to) = more ? sum[i][j] + row_at(more) : sum[i][j];
          continue;
        }
        T part[row_lanes<T>];
        row_at(part) = sum[i][j];
        for (int64_t l = 0; l < columns - at; ++l) to[l] = part[l] + (more ? more[l] : T(0));
      }
  }
};

/// body(i, j, rows, vectors) for the blocks of C: a panel of B passes by all of A's rows. A narrow block
/// has more rows, so that as many sums are on their way.
template <class T, class Body>
LADON_INLINE void for_blocks(int64_t m, int64_t n, const Body& body) {
  for (int64_t j = 0; j < n; j += block_columns<T>)
    with_number<block_vectors>((n - j + row_lanes<T> - 1) / row_lanes<T>, [&](auto vectors) {
      constexpr int tall = vectors.value == 1 ? block_rows * 3 / 2 : block_rows;
      int64_t i = 0;
      for (; i + tall <= m; i += tall) body(i, j, Number<tall>(), vectors);
      for (; i < m; i += block_rows)
        with_number<block_rows>(m - i, [&](auto rows) { body(i, j, rows, vectors); });
    });
}

template <int R, int V, class T>
[[gnu::noinline]] void multiply_block(const GatheredRows<T>& a, int64_t i, const T* right,
                                      int64_t columns, const T* plus, int64_t plus_row, T* c,
                                      int64_t c_row) {
  Block<R, V, T> block;
  const T* const* at = a.at + i * a.stride;
  for (int64_t s = 0; s < a.pieces; ++s) {
    const T* x[R];
    for (int r = 0; r < R; ++r) x[r] = at[r * a.stride + s] + a.first;
    for (int64_t p = 0; p < a.length; ++p, right += block_columns<T>)
      block.add_product([&](int r) { return x[r][p]; }, right);
  }
  block.store(columns, plus, plus_row, c, c_row);
}

template <class T>
void multiply(int64_t m, int64_t n, const GatheredRows<T>& a, const T* right, bool add,
              const T* row, T* c, int64_t c_row) {
  for_blocks<T>(m, n, [&](int64_t i, int64_t j, auto rows, auto vectors) {
    T* to = c + i * c_row + j;
    const T* plus = add ? to : row ? row + j : nullptr;
    multiply_block<rows.value, vectors.value>(a, i, right + j * a.pieces * a.length, n - j, plus,
                                              add ? c_row : 0, to, c_row);
  });
}

template <int R, int V, class T>
[[gnu::noinline]] void transposed_block(int64_t m, const GatheredRows<T>& a, int64_t s, int64_t p,
                                        const T* right, int64_t columns, T* c, int64_t c_row) {
  Block<R, V, T> block;
  const T* const* at = a.at + s;
  for (int64_t i = 0; i < m; ++i) {
    const T* x = at[i * a.stride] + a.first + p;
    block.add_product([&](int r) { return x[r]; }, right + i * block_columns<T>);
  }
  block.store(columns, c, c_row, c, c_row);
}

template <class T>
void multiply_transposed(int64_t m, int64_t n, const GatheredRows<T>& a, const T* right, T* c,
                         int64_t c_row) {
  for (int64_t s = 0; s < a.pieces; ++s)
    for_blocks<T>(a.length, n, [&](int64_t p, int64_t j, auto rows, auto vectors) {
      transposed_block<rows.value, vectors.value>(m, a, s, p, right + j * m, n - j,
                                                  c + (s * a.length + p) * c_row + j, c_row);
    });
}

}  // namespace

void add_gathered(Loops& table) {
  table.f32.gathered = {multiply<float>, multiply_transposed<float>};
  table.f64.gathered = {multiply<double>, multiply_transposed<double>};
}

}  // namespace ladon::kernels::LADON_LEVEL
