#include "ladon/core/linalg/cholesky.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/storage.h"

namespace ladon::lapack {
namespace {

using std::int64_t;

int64_t pieces_of(int64_t n, int64_t piece) { return (n + piece - 1) / piece; }
int64_t rounded_up(int64_t n, int64_t unit) { return pieces_of(n, unit) * unit; }

// Largest number of columns of a block, and smallest number of rows and columns of a tile. A tile
// of the matrix that is updated (A22, see Factorization) and the operands of its update fit in the
// second-level cache; larger tiles would be no faster, and give fewer threads work.
constexpr int64_t most_width = 128, least_side = 64;

/// Work space for the panels of a matrix [n, m], which are cut along m.
template <class T>
class Panels {
 public:
  Panels(int64_t n, int64_t m, int64_t width)
      : storage_(static_cast<std::size_t>(n * rounded_up(m, width)) * sizeof(T)) {}
  T* data() const { return reinterpret_cast<T*>(storage_.bytes()); }

 private:
  Storage storage_;
};

/// Cholesky factorization of a row-major matrix, right-looking, one column of blocks at a time:
///   A11 = L11·L11ᵀ on one thread;  L21 = A21·L11⁻ᵀ by tiles of rows;  A22 −= L21·L21ᵀ by tiles.
/// L21 stays packed from the first step to the last: L21ᵀ is the right operand of both products.
template <class T>
class Factorization {
 public:
  Factorization(int64_t n, T* a)
      : n_(n),
        a_(a),
        width_(std::min(n, most_width)),
        left_(width_, n - width_, gemm_.rows),
        right_(width_, n, gemm_.columns),
        factor_(width_, width_, gemm_.rows) {}

  int64_t run() const {
    for (int64_t p = 0; p < n_; p += width_) {
      const int64_t width = std::min(width_, n_ - p), q = p + width;
      pack_right(p, q, p, width, right_.data());
      const int64_t minor = loops_.triangular.factor(width, right_.data(), factor_.data());
      if (minor != 0) return p + minor;
      unpack(p, q, p, width, right_.data());
      solve_below(p, width);
      subtract_square(p, width);
    }
    clear_above();
    return 0;
  }

 private:
  T* at(int64_t i, int64_t j) const { return a_ + i * n_ + j; }

  /// Packs columns [p, p + width) of rows [begin, end) of A; rows of A become columns of the
  /// panels.
  void pack_right(int64_t begin, int64_t end, int64_t p, int64_t width, T* to) const {
    gemm_.pack_right(end - begin, width, at(begin, p), n_, 1, to);
  }
  void unpack(int64_t begin, int64_t end, int64_t p, int64_t width, const T* from) const {
    const int64_t columns = gemm_.columns;
    for (int64_t i = begin; i < end; i += columns, from += width * columns)
      loops_.transpose(width, std::min(columns, end - i), from, columns, at(i, p), n_);
  }

  /// Computes L21 = A21·L11⁻ᵀ, as L21ᵀ = L11⁻¹·A21ᵀ, for the rows below the block at row p.
  void solve_below(int64_t p, int64_t width) const {
    const int64_t q = p + width;
    parallel::for_range(n_ - q, side_, [&](int64_t begin, int64_t end) {
      T* panels = right_.data() + begin * width;
      pack_right(q + begin, q + end, p, width, panels);
      loops_.triangular.solve(width, factor_.data(), pieces_of(end - begin, gemm_.columns), panels);
      unpack(q + begin, q + end, p, width, panels);
      gemm_.pack_left(end - begin, width, at(q + begin, p), n_, 1, left_.data() + begin * width);
    });
  }

  void subtract_square(int64_t p, int64_t width) const {
    const int64_t q = p + width, rest = n_ - q, across = pieces_of(rest, side_);
    parallel::for_range(across * (across + 1) / 2, 1, [&](int64_t t, int64_t) {
      int64_t row = 0;
      while (t > row) t -= ++row;
      const int64_t i = row * side_, j = t * side_;
      gemm_.multiply(std::min(side_, rest - i), std::min(side_, rest - j), width, T(-1),
                     left_.data() + i * width, right_.data() + j * width, T(1), nullptr,
                     at(q + i, q + j), n_);
    });
  }

  /// Sets elements above the diagonal to 0 where blocks and tiles on the diagonal were written
  /// whole.
  void clear_above() const {
    const int64_t reach = std::max(width_, side_);
    parallel::for_range(n_, reach, [&](int64_t i, int64_t end) {
      for (; i < end; ++i) std::fill(at(i, i) + 1, at(i, i) + std::min(reach, n_ - i), T(0));
    });
  }

  const kernels::LoopsOf<T>& loops_ = kernels::loops().of<T>();
  const kernels::GemmLoops<T>& gemm_ = loops_.gemm;
  int64_t side_ = rounded_up(least_side, std::lcm(gemm_.rows, gemm_.columns));  // of a tile
  int64_t n_;
  T* a_;
  int64_t width_;
  Panels<T> left_, right_, factor_;
};

/// The part of x from row i and column j on.
template <class T>
blas::Matrix<T> at(blas::Matrix<T> x, int64_t i, int64_t j) {
  return {x.data + i * x.row + j * x.column, x.row, x.column};
}

/// Packs L [n, n] in panels, with the inverses of its diagonal elements. If `transposed`, packs Lᵀ
/// instead, with rows and columns in reverse order, which makes this upper triangular matrix lower
/// triangular.
template <class T>
void pack_factor(int64_t n, blas::Matrix<const T> l, bool transposed, T* to) {
  const kernels::GemmLoops<T>& loop = kernels::loops().of<T>().gemm;
  const blas::Matrix<const T> m =
      transposed ? blas::Matrix<const T>{at(l, n - 1, n - 1).data, -l.column, -l.row} : l;
  for (int64_t i = 0; i < n; i += loop.rows) {
    const int64_t rows = std::min(loop.rows, n - i);
    T* panel = to + i * n;
    loop.pack_left(rows, i + rows, at(m, i, 0).data, m.row, m.column, panel);
    for (int64_t r = 0; r < rows; ++r) {
      T& x = panel[(i + r) * loop.rows + r];
      x = 1 / x;
    }
  }
}

/// X ← L⁻¹·X or L⁻ᵀ·X for an L [n, n] that stays in the second-level cache. Leaves the result in
/// `panels` too; their rows are in reverse order if `transposed`.
template <class T>
void solve_block(int64_t n, int64_t k, blas::Matrix<const T> l, bool transposed, blas::Matrix<T> x,
                 T* panels) {
  const kernels::LoopsOf<T>& loop = kernels::loops().of<T>();
  const int64_t columns = loop.gemm.columns;
  const Panels<T> factor(n, n, loop.gemm.rows);
  pack_factor(n, l, transposed, factor.data());
  if (transposed) x = {at(x, n - 1, 0).data, -x.row, x.column};
  parallel::for_range(k, columns, [&](int64_t j, int64_t end) {
    T* panel = panels + j * n;
    loop.gemm.pack_right(end - j, n, x.data + j, x.column, x.row, panel);
    loop.triangular.solve(n, factor.data(), 1, panel);
    for (int64_t i = 0; i < n; ++i) std::copy_n(panel + i * columns, end - j, at(x, i, j).data);
  });
}

/// C ← C − A·B, [m, n] · [n, k], for a B that is packed in `panels`.
template <class T>
void subtract_product(int64_t m, int64_t k, int64_t n, blas::Matrix<const T> a, const T* panels,
                      blas::Matrix<T> c) {
  const kernels::GemmLoops<T>& loop = kernels::loops().of<T>().gemm;
  const int64_t tall = rounded_up(least_side, loop.rows), wide = rounded_up(256, loop.columns);
  const int64_t groups = pieces_of(k, wide);
  parallel::for_range(pieces_of(m, tall) * groups, 1, [&](int64_t t, int64_t) {
    const int64_t i = t / groups * tall, j = t % groups * wide, rows = std::min(tall, m - i);
    const Panels<T> left(n, rows, loop.rows);
    loop.pack_left(rows, n, at(a, i, 0).data, a.row, a.column, left.data());
    loop.multiply(rows, std::min(wide, k - j), n, T(-1), left.data(), panels + j * n, T(1), nullptr,
                  at(c, i, j).data, c.row);
  });
}

/// solve_block() for few columns of X, one at a time: with L, by inner products of the rows of L
/// with the elements that are solved already; with Lᵀ, by subtracting multiples of the rows of L.
template <class T>
void solve_few(int64_t n, int64_t k, blas::Matrix<const T> l, bool transposed, blas::Matrix<T> x) {
  const auto& loop = kernels::loops().of<T>().symmetric;
  std::vector<T> held(n);
  T* column = held.data();
  for (int64_t j = 0; j < k; ++j) {
    for (int64_t i = 0; i < n; ++i) column[i] = *at(x, i, j).data;
    for (int64_t s = 0; s < n; ++s) {
      const int64_t i = transposed ? n - 1 - s : s;
      const T* row = at(l, i, 0).data;
      T sum = 0;
      if (!transposed) loop.dots(1, i, row, l.row, column, &sum);
      column[i] = (column[i] - sum) / row[i];
      const T factor = -column[i];
      if (transposed) loop.add_rows(1, i, &factor, row, l.row, column);
    }
    for (int64_t i = 0; i < n; ++i) *at(x, i, j).data = column[i];
  }
}

/// subtract_product() for few columns. It is bound by memory, so tasks have fewer multiply-adds.
template <class T>
void subtract_few(int64_t m, int64_t k, int64_t n, blas::Matrix<const T> a, blas::Matrix<const T> b,
                  blas::Matrix<T> c) {
  parallel::for_range(m, std::max<int64_t>(32, (1 << 16) / (n * k)), [&](int64_t i, int64_t end) {
    blas::gemm_serial<T>(end - i, k, n, -1, at(a, i, 0), b, 1, at(c, i, 0));
  });
}

}  // namespace

template <class T>
int64_t factor_in_place(int64_t n, T* a) {
  return Factorization<T>(n, a).run();
}

// Solves block by block: X1 ← L11⁻¹·X1, X2 ← X2 − L21·X1, and so on with X2 and L22. With
// `transposed` the matrix is Lᵀ = [L11ᵀ L21ᵀ; 0 L22ᵀ], and the last block is solved first:
// X2 ← L22⁻ᵀ·X2, then X1 ← X1 − L21ᵀ·X2.
template <class T>
void solve_in_place(int64_t n, int64_t k, blas::Matrix<const T> l, bool transposed,
                    blas::Matrix<T> x) {
  constexpr int64_t width = 256;
  const int64_t columns = kernels::loops().of<T>().gemm.columns;
  const bool few = 2 * k <= columns;  // the columns fill at most half of a panel
  const Panels<T> panels(few ? 0 : std::min(n, width), k, columns);
  for (int64_t done = 0; done < n; done += width) {
    const int64_t size = std::min(width, n - done);
    const int64_t begin = transposed ? n - done - size : done, rest = n - done - size;
    const blas::Matrix<const T> block = at(l, begin, begin);
    const blas::Matrix<T> here = at(x, begin, 0), below = transposed ? x : at(here, size, 0);
    blas::Matrix<const T> beside = transposed ? at(l, begin, 0).transposed() : at(block, size, 0);
    if (few) {
      solve_few(size, k, block, transposed, here);
      subtract_few(rest, k, size, beside, {here.data, here.row, here.column}, below);
    } else {
      solve_block(size, k, block, transposed, here, panels.data());
      if (transposed) beside = {at(beside, 0, size - 1).data, beside.row, -beside.column};
      subtract_product(rest, k, size, beside, panels.data(), below);
    }
  }
}

#define LADON_CHOLESKY(T)                          \
  template int64_t factor_in_place(int64_t n, T*); \
  template void solve_in_place(int64_t, int64_t, blas::Matrix<const T>, bool, blas::Matrix<T>);
LADON_CHOLESKY(float)
LADON_CHOLESKY(double)
#undef LADON_CHOLESKY

}  // namespace ladon::lapack
