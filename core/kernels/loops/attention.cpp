#include "ladon/core/kernels/loops/attention.h"

#include "ladon/core/kernels/loops/activations.h"
#include "ladon/core/kernels/loops/products/squares.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

// Size of the block of a product C = A·B that is kept in registers, together with a part of a row
// of B and an element of A.
constexpr int block_vectors = 2, block_rows = vector_bytes == 64 ? 8 : vector_bytes == 32 ? 6 : 4;

template <class T>
struct Lanes {
  typedef T Type __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));
  static constexpr int count = vector_bytes / static_cast<int>(sizeof(T));
};

/// Computes a block of R rows by V vectors of C ← A·B + C·diag(keep) (AttentionLoops::multiply).
template <class T, int R, int V>
LADON_INLINE void multiply_block(int64_t k, TileOperand<T> a, const T* b, int64_t b_row,
                                 const T* keep, T* c, int64_t c_row) {
  using Row = typename Lanes<T>::Type;
  constexpr int lanes = Lanes<T>::count;
  const auto at = [](const T* p) { return *reinterpret_cast<const Row*>(p); };
  Row sum[R][V];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j)
      sum[i][j] = keep ? at(c + i * c_row + j * lanes) * at(keep + j * lanes) : Row{};
  for (int64_t p = 0; p < k; ++p) {
    Row row[V];
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) row[j] = at(b + p * b_row + j * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const T x = a.data[i * a.row + p * a.column];
#pragma GCC unroll 4
      for (int j = 0; j < V; ++j) sum[i][j] += x * row[j];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < V; ++j) *reinterpret_cast<Row*>(c + i * c_row + j * lanes) = sum[i][j];
}

/// Computes R rows of C = A·B, in blocks of V vectors, and of V/2 vectors for the remaining
/// columns. Blocks with fewer rows are wider, so that the number of sums that are computed at once
/// hardly depends on R.
template <class T, int R, int V>
void multiply_rows(int64_t n, int64_t k, TileOperand<T> a, const T* b, int64_t b_row, const T* keep,
                   T* c, int64_t c_row) {
  constexpr int step = V * Lanes<T>::count;
  for (; n >= step; n -= step) {
    multiply_block<T, R, V>(k, a, b, b_row, keep, c, c_row);
    b += step;
    c += step;
    if (keep) keep += step;
  }
  if constexpr (V > 1)
    if (n > 0) multiply_rows<T, R, V / 2>(n, k, a, b, b_row, keep, c, c_row);
}

template <class T, int R = block_rows>
void multiply(int64_t m, int64_t n, int64_t k, TileOperand<T> a, const T* b, int64_t b_row,
              const T* keep, T* c, int64_t c_row) {
  constexpr int V = R < 4 ? 8 / R : block_vectors;
  for (; m >= R; m -= R) {
    multiply_rows<T, R, V>(n, k, a, b, b_row, keep, c, c_row);
    a.data += R * a.row;
    c += R * c_row;
  }
  if constexpr (R > 1)
    if (m > 0) multiply<T, R / 2>(m, n, k, a, b, b_row, keep, c, c_row);
}

/// Computes R rows and `side` columns of C = A·Bᵀ; if `whole` is false, only the first `columns`
/// columns. Squares of side × side elements of B are transposed in registers; if B has fewer rows
/// left, its last row is repeated.
template <int R, bool whole, class T>
LADON_INLINE void turned_block(int64_t columns, int64_t k, TileOperand<T> a, const T* b,
                               int64_t b_row, T* c, int64_t c_row) {
  constexpr int side = square_side<T>;
  typedef T Row __attribute__((vector_size(side * sizeof(T))));
  const auto row = [=](int64_t j) { return b + (whole || j < columns ? j : columns - 1) * b_row; };
  Row sum[R] = {}, rows[side];
  int64_t p = 0;
  for (; p + side <= k; p += side) {
#pragma GCC unroll 16
    for (int j = 0; j < side; ++j) rows[j] = load<Row>(row(j) + p);
    turn_square<side>(rows);
#pragma GCC unroll 16
    for (int j = 0; j < side; ++j)
#pragma GCC unroll 4
      for (int i = 0; i < R; ++i) sum[i] += a.data[i * a.row + (p + j) * a.column] * rows[j];
  }
  for (; p < k; ++p) {
    Row column = {};
    for (int j = 0; j < side; ++j) column[j] = row(j)[p];
    for (int i = 0; i < R; ++i) sum[i] += a.data[i * a.row + p * a.column] * column;
  }
  for (int i = 0; i < R; ++i)
    __builtin_memcpy(c + i * c_row, &sum[i],
                     whole ? sizeof(Row) : static_cast<std::size_t>(columns) * sizeof(T));
}

template <int R, bool whole, class T>
LADON_INLINE void turned_rows(int64_t m, int64_t columns, int64_t k, TileOperand<T> a, const T* b,
                              int64_t b_row, T* c, int64_t c_row) {
  for (; m >= R; m -= R) {
    turned_block<R, whole>(columns, k, a, b, b_row, c, c_row);
    a.data += R * a.row;
    c += R * c_row;
  }
  if constexpr (R > 1)
    if (m > 0) turned_rows<R / 2, whole>(m, columns, k, a, b, b_row, c, c_row);
}

template <class T>
void multiply_turned(int64_t m, int64_t n, int64_t k, TileOperand<T> a, const T* b, int64_t b_row,
                     T* c, int64_t c_row) {
  constexpr int side = square_side<T>;
  for (; n >= side; n -= side) {
    turned_rows<4, true>(m, side, k, a, b, b_row, c, c_row);
    b += side * b_row;
    c += side;
  }
  if (n > 0) turned_rows<1, false>(m, n, k, a, b, b_row, c, c_row);
}

/// y ← (x·diag(factors))ᵀ, element by element if the rows of x are not contiguous.
template <class T>
void transpose(int64_t rows, int64_t columns, TileOperand<T> x, const T* factors, T* y,
               int64_t y_row) {
  if (x.column == 1)
    return transpose_by<square_side<T>>(
        rows, columns, x.data, x.row, y, y_row,
        [=](auto v, int64_t j) { return v * load<decltype(v)>(factors + j); });
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      y[j * y_row + i] = factors[j] * x.data[i * x.row + j * x.column];
}

template <class T>
void cap(T limit, T* s, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) s[i] = limit * tanh(s[i]);
}

template <class T>
void uncap(const T* s, T* d, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) d[i] *= tanh_slope(s[i]);
}

/// 2^x for x ≤ 0, at half the cost of exp, because subtracting an integer from x is exact and only
/// the lower end needs care. Rounding x + (1.5·2^mantissa + bias) leaves the biased exponent in the
/// low bits. For x ≤ −bias the result is 0.
template <class T>
LADON_INLINE T exp2_below(T x) {
  using F = Format<T>;
  constexpr T magic = F::magic + static_cast<T>(F::bias),
              ln2 = static_cast<T>(0x1.62e42fefa39efp-1);
  const T clamped = at_least(x, -static_cast<T>(F::bias));
  const T shifted = clamped + magic;
  const T r = (clamped - (shifted - magic)) * ln2;
  return (T(1) + (r + r * r * exp_tail(r))) * from_bits<T>(bits(shifted) << F::mantissa);
}

/// top[j] ← the maximum of column j of s and of the previous top[j].
template <class T>
void raise(const T* s, int64_t keys, int64_t n, T* top) {
  int64_t i = 0;
  for (; i + 4 <= keys; i += 4) {
    const T* p = s + i * n;
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const T a = at_least(p[j], p[n + j]), b = at_least(p[2 * n + j], p[3 * n + j]);
      top[j] = at_least(at_least(a, b), top[j]);
    }
  }
  for (; i < keys; ++i)
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) top[j] = at_least(s[i * n + j], top[j]);
}

/// The number that is subtracted from a column: its maximum `top`, or 0 if all its elements so far
/// are −∞, so that their exponentials are 0 rather than NaN (∞ − ∞).
template <class T>
LADON_INLINE T finite_shift(T top) {
  return top == -infinity<T> ? T(0) : top;
}

template <class T>
void softmax(T* s, int64_t keys, int64_t n, T* top, T* sum, T* keep) {
  for (int64_t j = 0; j < n; ++j) keep[j] = top[j];
  raise(s, keys, n, top);
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    keep[j] = exp2_below(keep[j] - finite_shift(top[j]));
    sum[j] *= keep[j];
  }
  for (int64_t i = 0; i < keys; ++i)
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) {
      const T p = exp2_below(s[i * n + j] - finite_shift(top[j]));
      s[i * n + j] = p;
      sum[j] += p;
    }
}

/// Sums run over the keys in order, as they do in softmax(), so that the bits are the same.
template <class T>
void softmax_rows(T* s, int64_t queries, int64_t n, T* top, T* sum, T* keep) {
  for (int64_t i = 0; i < queries; ++i, s += n) {
    T high = top[i];
#pragma omp simd reduction(max : high)
    for (int64_t j = 0; j < n; ++j) high = at_least(s[j], high);
    const T shift = finite_shift(high);
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) s[j] = exp2_below(s[j] - shift);
    keep[i] = exp2_below(top[i] - shift);
    top[i] = high;
    T total = sum[i] * keep[i];
    for (int64_t j = 0; j < n; ++j) total += s[j];
    sum[i] = total;
  }
}

template <class T>
void hide(const bool* mask, T* s, int64_t count) {
  const auto* visible = reinterpret_cast<const unsigned char*>(mask);
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) s[i] = visible[i] != 0 ? s[i] : -infinity<T>;
}

template <class T>
void add(const T* mask, T* s, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) s[i] += mask[i];
}

template <class T>
void weights(T* s, int64_t keys, int64_t n, const T* log_sum) {
  for (int64_t i = 0; i < keys; ++i)
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) s[i * n + j] = exp2_below(s[i * n + j] - log_sum[j]);
}

template <class T>
void softmax_backward(const T* s, T* d, int64_t keys, int64_t n, const T* mean) {
  for (int64_t i = 0; i < keys; ++i)
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) d[i * n + j] = s[i * n + j] * (d[i * n + j] - mean[j]);
}

template <class T>
AttentionLoops<T> attention_loops() {
  return {multiply<T>, multiply_turned<T>, transpose<T>,    cap<T>,     uncap<T>,           hide<T>,
          add<T>,      softmax<T>,         softmax_rows<T>, weights<T>, softmax_backward<T>};
}

}  // namespace

void add_attention(Loops& table) {
  table.f32.attention = attention_loops<float>();
  table.f64.attention = attention_loops<double>();
}

}  // namespace ladon::kernels::LADON_LEVEL
