#include "ladon/core/kernels/loops/products/triangular.h"

#include "ladon/core/kernels/loops/products/panels.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

/// Updates rows [i, i + R) of a panel of B; `left` is the panel of L that has these rows. The
/// steps, either of which can be left out, are
///   products:  B_r −= Σ_{p < i} L_rp·B_p
///   triangle:  then, from the first row to the last, B_r ← (B_r − Σ_{i ≤ q < r} L_rq·B_q) / L_rr
template <int R, bool products, bool triangle, class T>
[[gnu::noinline]] void solve_rows(int64_t i, const T* left, T* panel) {
  constexpr int columns = block_columns<T>, lanes = row_lanes<T>;
  alignas(vector_bytes) Sums<T> sum = {};
  if constexpr (products) Fused::add(i, left, panel, sum);
  Row<T> b[R][block_vectors];
  panel += i * columns;
  left += i * block_rows;
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < block_vectors; ++j)
      b[r][j] = row_at(panel + r * columns + j * lanes) - sum[r][j];
  if constexpr (triangle) {
#pragma GCC unroll 8
    for (int q = 0; q < R; ++q)
#pragma GCC unroll 2
      for (int j = 0; j < block_vectors; ++j) {
        b[q][j] *= left[q * block_rows + q];
#pragma GCC unroll 8
        for (int r = q + 1; r < R; ++r) b[r][j] -= left[q * block_rows + r] * b[q][j];
      }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < block_vectors; ++j) set_row(panel + r * columns + j * lanes, b[r][j]);
}

/// B ← L⁻¹·B, one panel of B after the other; a panel stays in the first-level cache until all of
/// its rows are solved.
template <class T>
void solve(int64_t n, const T* left, int64_t panels, T* right) {
  for (int64_t j = 0; j < panels; ++j, right += n * block_columns<T>)
    for (int64_t i = 0; i < n; i += block_rows)
      with_number<block_rows>(
          n - i, [&](auto rows) { solve_rows<rows.value, true, true>(i, left + i * n, right); });
}

/// The matrix U [n, n] in panels of columns.
template <class T>
struct Columns {
  int64_t n;
  T* right;
  T* panel(int64_t j) const { return right + j * n * block_columns<T>; }
  T& operator()(int64_t p, int64_t i) const {
    return panel(i / block_columns<T>)[p * block_columns<T> + i % block_columns<T>];
  }
};

/// Computes the Cholesky factor of the diagonal block of U that begins at row i and has `rows`
/// rows, and writes it to the panel of L. Returns how many leading minors of the block are positive
/// before the first that is not.
template <class T>
int64_t factor_block(int64_t i, int64_t rows, const Columns<T>& u, T* left) {
  left += i * block_rows;
  for (int64_t q = 0; q < rows; ++q)
    for (int64_t r = q; r < rows; ++r) left[q * block_rows + r] = u(i + q, i + r);
  for (int64_t q = 0; q < rows; ++q) {
    T* column = left + q * block_rows;
    if (!(column[q] > T(0))) return q;
    const T root = sqrt(column[q]), inverse = T(1) / root;
    for (int64_t r = q + 1; r < rows; ++r) column[r] *= inverse;
    for (int64_t s = q + 1; s < rows; ++s)
      for (int64_t r = s; r < rows; ++r) left[s * block_rows + r] -= column[s] * column[r];
    column[q] = inverse;
    u(i + q, i + q) = root;
  }
  return rows;
}

/// Computes U in blocks of rows. From each block, one product subtracts the contribution of the
/// rows above it, whose elements in the columns [i, i + rows) are first copied to the panel of L.
/// U_ii is written by factor_block, and must not be computed again from 1/U_ii.
template <class T>
int64_t factor(int64_t n, T* right, T* left) {
  constexpr int64_t columns = block_columns<T>;
  const Columns<T> u{n, right};
  const int64_t panels = (n + columns - 1) / columns;
  for (int64_t i = 0; i < n; i += block_rows, left += block_rows * n) {
    const int64_t rows = n - i < block_rows ? n - i : block_rows;
    const int64_t first = i / columns, last = (i + rows - 1) / columns;
    for (int64_t p = 0; p < i; ++p)
      for (int64_t r = 0; r < block_rows; ++r)
        left[p * block_rows + r] = r < rows ? u(p, i + r) : T(0);
    int64_t positive = 0;
    with_number<block_rows>(rows, [&](auto number) {
      constexpr int R = number.value;
      T diagonal[R];
      for (int64_t j = first; j <= last; ++j) solve_rows<R, true, false>(i, left, u.panel(j));
      positive = factor_block(i, rows, u, left);
      if (positive < rows) return;
      for (int r = 0; r < R; ++r) diagonal[r] = u(i + r, i + r);
      for (int64_t j = first; j <= last; ++j) solve_rows<R, false, true>(i, left, u.panel(j));
      for (int64_t j = last + 1; j < panels; ++j) solve_rows<R, true, true>(i, left, u.panel(j));
      for (int r = 0; r < R; ++r) u(i + r, i + r) = diagonal[r];
    });
    if (positive < rows) return i + positive + 1;
  }
  return 0;
}

}  // namespace

void add_triangular(Loops& table) {
  table.f32.triangular = {solve<float>, factor<float>};
  table.f64.triangular = {solve<double>, factor<double>};
}

}  // namespace ladon::kernels::LADON_LEVEL
