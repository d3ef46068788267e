#include "ladon/core/kernels/loops/products/gathered.h"

#include "ladon/core/kernels/loops/products/block.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

/// Calls body(i, j, rows, vectors) for the blocks of C = A·B, one panel of B after the other. A
/// block that is one vector wide has more rows, so that about as many sums are computed at once.
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
      block.add_product([&](int r) { return x[r][p]; }, rows_from(right));
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
    block.add_product([&](int r) { return x[r]; }, rows_from(right + i * block_columns<T>));
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

/// Integer vector with one channel index per lane.
template <class T>
struct PlacesOf {
  typedef std::conditional_t<sizeof(T) == 4, std::int32_t, int64_t> Element;
  typedef Element Type __attribute__((vector_size(vector_bytes)));
};
template <class T>
using Places = typename PlacesOf<T>::Type;

/// For each lane of a vector of channels, the index of the first channel of the lane's group.
template <class T>
LADON_INLINE Places<T> first_of_group(int64_t group) {
  Places<T> first = {};
  for (int l = 0; l < row_lanes<T>; ++l)
    first[l] = static_cast<typename PlacesOf<T>::Element>(l / group * group);
  return first;
}

/// Loads a vector of channels from x, and returns for each lane channel q of the lane's group.
template <bool grouped, class T>
LADON_INLINE Row<T> seen(const T* x, Places<T> first, int64_t q) {
  if constexpr (!grouped) return row_at(x);
  const Places<T> at = first + static_cast<typename PlacesOf<T>::Element>(q);
#ifdef __clang__  // clang has no shuffle by a vector of indices
  Row<T> y = {};
  for (int l = 0; l < row_lanes<T>; ++l) y[l] = x[at[l]];
  return y;
#else
  return __builtin_shuffle(row_at(x), at);
#endif
}

/// Computes V vectors of outputs, from output j on, for the R windows from i on.
template <bool grouped, int R, int V, class T>
LADON_INLINE void channels_block(int64_t i, int64_t j, int64_t n, int64_t group,
                                 const GatheredRows<T>& a, const T* w, const T* row, T* c,
                                 int64_t c_row) {
  constexpr int lanes = row_lanes<T>;
  const Places<T> first = first_of_group<T>(group);
  Row<T> sum[R][V] = {};
  w += j;
  for (int64_t s = 0; s < a.pieces; ++s)
    for (int64_t p = a.first + j; p < a.first + a.length; p += n)
      for (int64_t q = 0; q < group; ++q, w += n)
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v)
#pragma GCC unroll 4
          for (int r = 0; r < R; ++r)
            sum[r][v] += seen<grouped>(a.at[(i + r) * a.stride + s] + p + v * lanes, first, q) *
                         row_at(w + v * lanes);
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) {
      const int64_t at = j + v * lanes;
      set_row(c + (i + r) * c_row + at, row ? sum[r][v] + row_at(row + at) : sum[r][v]);
    }
}

/// Number of columns that whole vectors cover, if a vector holds whole groups; else 0.
template <class T>
int64_t whole_columns(int64_t n, int64_t group) {
  return row_lanes<T> % group == 0 ? n / row_lanes<T> * row_lanes<T> : 0;
}

template <bool grouped, int R, class T>
void channels_rows(int64_t i, int64_t whole, int64_t n, int64_t group, const GatheredRows<T>& a,
                   const T* w, const T* row, T* c, int64_t c_row) {
  constexpr int lanes = row_lanes<T>, wide = 4;
  int64_t j = 0;
  for (; j + wide * lanes <= whole; j += wide * lanes)
    channels_block<grouped, R, wide>(i, j, n, group, a, w, row, c, c_row);
  for (; j < whole; j += lanes) channels_block<grouped, R, 1>(i, j, n, group, a, w, row, c, c_row);
}

template <bool grouped, class T>
void channels_by_vectors(int64_t m, int64_t whole, int64_t n, int64_t group,
                         const GatheredRows<T>& a, const T* w, const T* row, T* c, int64_t c_row) {
  int64_t i = 0;
  for (; i + 2 <= m; i += 2) channels_rows<grouped, 2>(i, whole, n, group, a, w, row, c, c_row);
  if (i < m) channels_rows<grouped, 1>(i, whole, n, group, a, w, row, c, c_row);
}

template <class T>
void multiply_channels(int64_t m, int64_t n, int64_t group, const GatheredRows<T>& a, const T* w,
                       const T* row, T* c, int64_t c_row) {
  const int64_t whole = whole_columns<T>(n, group);
  if (group == 1)
    channels_by_vectors<false>(m, whole, n, group, a, w, row, c, c_row);
  else
    channels_by_vectors<true>(m, whole, n, group, a, w, row, c, c_row);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = whole; j < n; ++j) {
      const T* by = w + j;
      T sum = 0;
      for (int64_t s = 0; s < a.pieces; ++s) {
        const T* x = a.at[i * a.stride + s] + a.first + j / group * group;
        for (int64_t p = 0; p < a.length; p += n)
          for (int64_t q = 0; q < group; ++q, by += n) sum += x[p + q] * *by;
      }
      c[i * c_row + j] = row ? sum + row[j] : sum;
    }
}

/// For R taps of piece s from offset p on, adds to V vectors of c the sum over the rows of A of
/// (channel q of the group)·g.
template <bool grouped, int R, int V, class T>
LADON_INLINE void add_channels(int64_t m, int64_t n, int64_t group, const GatheredRows<T>& a,
                               int64_t s, int64_t p, int64_t q, const T* g, int64_t g_row, T* c) {
  constexpr int lanes = row_lanes<T>;
  const Places<T> first = first_of_group<T>(group);
  Row<T> sum[R][V] = {};
  for (int64_t i = 0; i < m; ++i) {
    const T* x = a.at[i * a.stride + s] + p;
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const Row<T> up = row_at(g + i * g_row + v * lanes);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sum[r][v] += seen<grouped>(x + r * n + v * lanes, first, q) * up;
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) {
      T* to = c + r * group * n + v * lanes;
      set_row(to, row_at(to) + sum[r][v]);
    }
}

template <bool grouped, class T>
void add_by_vectors(int64_t m, int64_t whole, int64_t n, int64_t group, const GatheredRows<T>& a,
                    const T* g, int64_t g_row, T* c) {
  constexpr int lanes = row_lanes<T>, most = 3;  // number of taps at a time
  const int64_t taps = a.length / n;
  for (int64_t s = 0; s < a.pieces; ++s)
    for (int64_t t = 0; t < taps; t += most)
      with_number<most>(taps - t, [&](auto abreast) {
        for (int64_t q = 0; q < group; ++q) {
          T* to = c + ((s * taps + t) * group + q) * n;
          const int64_t p = a.first + t * n;
          int64_t j = 0;
          for (; j + 2 * lanes <= whole; j += 2 * lanes)
            add_channels<grouped, abreast.value, 2>(m, n, group, a, s, p + j, q, g + j, g_row,
                                                    to + j);
          if (j < whole)
            add_channels<grouped, abreast.value, 1>(m, n, group, a, s, p + j, q, g + j, g_row,
                                                    to + j);
        }
      });
}

template <class T>
void multiply_channels_transposed(int64_t m, int64_t n, int64_t group, const GatheredRows<T>& a,
                                  const T* g, int64_t g_row, T* c) {
  const int64_t whole = whole_columns<T>(n, group);
  if (group == 1)
    add_by_vectors<false>(m, whole, n, group, a, g, g_row, c);
  else
    add_by_vectors<true>(m, whole, n, group, a, g, g_row, c);
  for (int64_t j = whole; j < n; ++j) {
    T* to = c + j;
    for (int64_t s = 0; s < a.pieces; ++s)
      for (int64_t p = a.first + j / group * group; p < a.first + a.length; p += n)
        for (int64_t q = 0; q < group; ++q, to += n) {
          T sum = 0;
          for (int64_t i = 0; i < m; ++i) sum += a.at[i * a.stride + s][p + q] * g[i * g_row + j];
          *to += sum;
        }
  }
}

}  // namespace

void add_gathered(Loops& table) {
  table.f32.gathered = {multiply<float>, multiply_transposed<float>, multiply_channels<float>,
                        multiply_channels_transposed<float>};
  table.f64.gathered = {multiply<double>, multiply_transposed<double>, multiply_channels<double>,
                        multiply_channels_transposed<double>};
}

}  // namespace ladon::kernels::LADON_LEVEL
