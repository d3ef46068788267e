#include "ladon/core/kernels/loops/particles.h"

#include <utility>

#include "ladon/core/kernels/loops/products/blocked.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

template <class T>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));

template <class T>
LADON_INLINE void store(T* y, Vector<T> v) {
  __builtin_memcpy(y, &v, sizeof v);
}

/// Converts as many elements of x as a vector of A has, and stores them to y. (A vector cast would
/// be compiled as two halves.)
template <class A, class T>
LADON_INLINE void widen(const T* x, A* y) {
  if constexpr (sizeof(A) == sizeof(T))
    store(y, load<Vector<A>>(x));
  else
#pragma omp simd
    for (int k = 0; k < lanes<A>; ++k) y[k] = x[k];
}

LADON_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/// Packs at most `rows` rows and tile_columns columns of x, from element (row, column) on, into
/// `tile`, padded with 0 up to multiples of 4 rows and of 48 columns; returns the padded number of
/// columns. (Without packing, rows of x that are a power of two apart would evict each other from
/// the caches.)
template <int64_t tile_columns, class A, class T>
LADON_INLINE int64_t pack(const Rows<T>& x, int64_t row, int64_t column, int64_t rows, A* tile) {
  const int64_t filled = least(rows, x.count - row);
  const int64_t width = least(tile_columns, x.columns - column);
  const int64_t padded = least(tile_columns, (width + 47) / 48 * 48);
  for (int64_t i = 0; i < (filled + 3) / 4 * 4; ++i) {
    A* y = tile + i * tile_columns;
    const T* from = x.data + (row + i) * x.stride + column;
    const int64_t n = i < filled ? width : 0;
    int64_t c = 0;
    for (; c + lanes<A> <= n; c += lanes<A>) widen(from + c, y + c);
    for (; c < n; ++c) y[c] = static_cast<A>(from[c]);
    for (; c < padded; ++c) y[c] = A(0);
  }
  return padded;
}

// --- pairs of rows ---

// Sizes of a tile, which holds 64 KB of rows in the type A of the terms, and of the block of pairs,
// left_rows × pair_side, whose sums are kept in registers. The terms of a tile are summed in A, and
// the sums of tiles in double precision.
constexpr int64_t pair_rows = 64;
template <class A>
constexpr int64_t pair_columns = 1024 / sizeof(A);
constexpr int left_rows = vector_bytes == 64 ? 4 : 2, side = static_cast<int>(pair_side);

struct SquaredDifference {
  template <class V>
  LADON_INLINE V operator()(V a, V b) const {
    return (a - b) * (a - b);
  }
};
struct Product {
  template <class V>
  LADON_INLINE V operator()(V a, V b) const {
    return a * b;
  }
};

/// A vector whose lane l is a[l] + a[l + step] if l does not have the bit `step`, and
/// b[l] + b[l − step] if it has.
template <int step, class V, int... l>
LADON_INLINE V fold(V a, V b, std::integer_sequence<int, l...>) {
  constexpr int n = sizeof...(l);
  return __builtin_shufflevector(a, b, (l & step ? n + l : l)...) +
         __builtin_shufflevector(a, b, (l & step ? n + l - step : l + step)...);
}

/// A vector whose lane l is the sum of all lanes of v[l].
template <class A, int step = 1>
LADON_INLINE Vector<A> sums_of(Vector<A>* v) {
  constexpr int n = lanes<A>;
  if constexpr (step == n) {
    return v[0];
  } else {
#pragma GCC unroll 8
    for (int k = 0; k < n / step / 2; ++k)
      v[k] = fold<step>(v[2 * k], v[2 * k + 1], std::make_integer_sequence<int, n>());
    return sums_of<A, step * 2>(v);
  }
}

/// For each pair of one of left_rows rows and one of `side` rows, adds the sum of its n terms to an
/// element of `sums`, whose rows are `width` apart.
template <class Term, class A>
LADON_INLINE void add_block(const A* left, const A* right, int64_t n, double* sums, int64_t width) {
  using V = Vector<A>;
  V sum[left_rows * side] = {};
  for (int64_t c = 0; c < n; c += lanes<A>) {
    V b[side];
#pragma GCC unroll 4
    for (int j = 0; j < side; ++j) b[j] = load<V>(right + j * pair_columns<A> + c);
#pragma GCC unroll 4
    for (int i = 0; i < left_rows; ++i) {
      const V a = load<V>(left + i * pair_columns<A> + c);
#pragma GCC unroll 4
      for (int j = 0; j < side; ++j) sum[i * side + j] += Term()(a, b[j]);
    }
  }
  A total[left_rows * side];
#pragma GCC unroll 4
  for (int k = 0; k < left_rows * side; k += lanes<A>) store(total + k, sums_of<A>(sum + k));
  for (int i = 0; i < left_rows; ++i)
#pragma omp simd
    for (int j = 0; j < side; ++j) sums[i * width + j] += total[i * side + j];
}

template <class Term, class A, class T>
void add_pairs(const Rows<T>& x, int64_t begin, int64_t end, double* sums, int64_t width) {
  constexpr int64_t columns = pair_columns<A>;
  alignas(64) A left[side * columns], right[pair_rows * columns];
  for (int64_t c = 0; c < x.columns; c += columns)
    for (int64_t j0 = 0; j0 < end; j0 += pair_rows) {
      const int64_t n = pack<columns>(x, j0, c, pair_rows, right);
      for (int64_t i = begin > j0 ? begin : j0; i < end; i += side) {
        const bool here = i < j0 + pair_rows;
        if (!here) pack<columns>(x, i, c, side, left);
        const A* a = here ? right + (i - j0) * columns : left;
        for (int64_t j = j0; j <= i && j < j0 + pair_rows; j += side)
          for (int64_t k = 0; k < side; k += left_rows)
            add_block<Term>(a + k * columns, right + (j - j0) * columns, n,
                            sums + (i + k - begin) * width + j, width);
      }
    }
}

// --- sums of all rows with weights ---

// Sizes of a tile, which holds 96 KB of rows, and of the block of sums that is kept in registers
// together with a part of a row.
constexpr int64_t mix_rows = 64;
template <class T>
constexpr int64_t mix_columns = 1536 / sizeof(T);
constexpr int sum_rows = 4, sum_vectors = vector_bytes == 64 ? 3 : 2;

/// y_i ← Σ_j w_ij x_j, or Σ_j w_ij (own_i − x_j) if `differences`, added to y_i if `add`, for
/// sum_rows rows i and sum_vectors vectors of columns. Rows of x and own are mix_columns apart,
/// rows of y `stride`. Sums start at −0, so that a sum of terms −0 is −0.
template <bool differences, class T>
LADON_INLINE void mix_block(const T* const* w, const T* x, int64_t rows, const T* own, bool add,
                            T* y, int64_t stride) {
  using V = Vector<T>;
  V sum[sum_rows][sum_vectors], mine[sum_rows][sum_vectors];
#pragma GCC unroll 4
  for (int i = 0; i < sum_rows; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < sum_vectors; ++v) {
      sum[i][v] = -V{};
      if constexpr (differences) mine[i][v] = load<V>(own + i * mix_columns<T> + v * lanes<T>);
    }
  for (int64_t j = 0; j < rows; ++j) {
    V row[sum_vectors];
#pragma GCC unroll 4
    for (int v = 0; v < sum_vectors; ++v) row[v] = load<V>(x + j * mix_columns<T> + v * lanes<T>);
#pragma GCC unroll 4
    for (int i = 0; i < sum_rows; ++i) {
      const T wij = w[i][j];
#pragma GCC unroll 4
      for (int v = 0; v < sum_vectors; ++v)
        if constexpr (differences)
          sum[i][v] += wij * (mine[i][v] - row[v]);
        else
          sum[i][v] += wij * row[v];
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < sum_rows; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < sum_vectors; ++v) {
      T* to = y + i * stride + v * lanes<T>;
      store(to, add ? load<V>(to) + sum[i][v] : sum[i][v]);
    }
}

/// Adds the contribution of rows j0, j0 + 1, … of x, which are in `tile`, to sum_rows rows of y
/// from i on, in the columns from c on.
template <bool differences, class T>
LADON_INLINE void mix_tile(const T* w, const Rows<T>& x, int64_t i, int64_t j0, int64_t c,
                           const T* tile, const T* own, T* y) {
  constexpr int64_t step = sum_vectors * lanes<T>;
  const int64_t rows = least(mix_rows, x.count - j0), kept = least(sum_rows, x.count - i);
  const int64_t width = least(mix_columns<T>, x.columns - c);
  const T* weights[sum_rows];
  for (int64_t k = 0; k < sum_rows; ++k) weights[k] = w + (i + least(k, kept - 1)) * x.count + j0;
  y += i * x.stride + c;
  for (int64_t v = 0; v < width; v += step) {
    if (kept == sum_rows && v + step <= width) {
      mix_block<differences>(weights, tile + v, rows, own + v, j0 > 0, y + v, x.stride);
      continue;
    }
    T block[sum_rows * step];
    mix_block<differences>(weights, tile + v, rows, own + v, false, block, step);
    for (int64_t k = 0; k < kept; ++k)
      for (int64_t q = 0; q < least(step, width - v); ++q) {
        T* to = y + k * x.stride + v + q;
        *to = j0 > 0 ? *to + block[k * step + q] : block[k * step + q];
      }
  }
}

template <bool differences, class T>
void mix(const T* w, const Rows<T>& x, T* y) {
  alignas(64) T tile[mix_rows * mix_columns<T>], other[sum_rows * mix_columns<T>];
  for (int64_t c = 0; c < x.columns; c += mix_columns<T>)
    for (int64_t j0 = 0; j0 < x.count; j0 += mix_rows) {
      pack<mix_columns<T>>(x, j0, c, mix_rows, tile);
      for (int64_t i = 0; i < x.count; i += sum_rows) {
        const bool here = i >= j0 && i < j0 + mix_rows;
        if (differences && !here) pack<mix_columns<T>>(x, i, c, sum_rows, other);
        const T* own = here ? tile + (i - j0) * mix_columns<T> : other;
        mix_tile<differences>(w, x, i, j0, c, tile, own, y);
      }
    }
}

// --- the two sums of PairForces, and y, in one pass ---

// Number of vectors in a block of columns: as many as allow the sums of four rows to stay in
// registers. One or more such blocks of columns are packed for all rows, as many as fit into 512
// KB.
constexpr int force_vectors = vector_bytes == 64 ? 6 : 2;
template <class T>
constexpr int64_t force_columns = force_vectors* lanes<T>;

/// Number of blocks of columns in a tile of `rows` rows of each matrix.
template <class T>
int64_t force_blocks(int64_t rows) {
  const int64_t bytes = 2 * rows * force_columns<T> * static_cast<int64_t>(sizeof(T));
  const int64_t fit = (int64_t{1} << 19) / bytes;
  return fit < 1 ? 1
                 : least(fit, int64_t{1536} / (force_columns<T> * static_cast<int64_t>(sizeof(T))));
}

/// sum_i = Σ_j w_ij x_j for sum_rows rows of weights; rows of x are force_columns apart. Blocks of
/// mix_rows rows are summed separately, so that rounding errors stay small; each sum starts at −0,
/// so that a sum of terms −0 is −0.
template <class T>
LADON_INLINE void weigh(const T* const* w, const T* x, int64_t rows,
                        Vector<T> (&sum)[sum_rows][force_vectors]) {
  using V = Vector<T>;
  for (int64_t first = 0; first < rows; first += mix_rows) {
    V block[sum_rows][force_vectors];
#pragma GCC unroll 4
    for (int i = 0; i < sum_rows; ++i)
#pragma GCC unroll 6
      for (int v = 0; v < force_vectors; ++v) block[i][v] = -V{};
    for (int64_t j = first; j < least(rows, first + mix_rows); ++j) {
      V row[force_vectors];
#pragma GCC unroll 6
      for (int v = 0; v < force_vectors; ++v)
        row[v] = load<V>(x + j * force_columns<T> + v * lanes<T>);
#pragma GCC unroll 4
      for (int i = 0; i < sum_rows; ++i) {
        const T wij = w[i][j];
#pragma GCC unroll 6
        for (int v = 0; v < force_vectors; ++v) block[i][v] += wij * row[v];
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < sum_rows; ++i)
#pragma GCC unroll 6
      for (int v = 0; v < force_vectors; ++v)
        sum[i][v] = first == 0 ? block[i][v] : sum[i][v] + block[i][v];
  }
}

/// Packs `width` columns of all rows of x from column c on into blocks [rows, force_columns],
/// padded with 0; returns the number of blocks.
template <class T>
LADON_INLINE int64_t pack_blocks(const Rows<T>& x, int64_t c, int64_t width, T* tile) {
  constexpr int64_t step = force_columns<T>;
  const int64_t blocks = (width + step - 1) / step;
  for (int64_t i = 0; i < x.count; ++i)
    for (int64_t b = 0; b < blocks; ++b) {
      const T* from = x.data + i * x.stride + c + b * step;
      T* to = tile + (b * x.count + i) * step;
      const int64_t n = least(step, width - b * step);
      int64_t k = 0;
      for (; k + lanes<T> <= n; k += lanes<T>) store(to + k, load<Vector<T>>(from + k));
      for (; k < n; ++k) to[k] = from[k];
      for (; k < step; ++k) to[k] = T(0);
    }
  return blocks;
}

/// Subtracts the mean of the rows of a block from each row.
template <class T>
LADON_INLINE void centre(T* block, int64_t rows) {
  using V = Vector<T>;
  V mean[force_vectors] = {};
  for (int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 6
    for (int v = 0; v < force_vectors; ++v)
      mean[v] += load<V>(block + i * force_columns<T> + v * lanes<T>);
#pragma GCC unroll 6
  for (int v = 0; v < force_vectors; ++v) mean[v] *= T(1) / static_cast<T>(rows);
  for (int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 6
    for (int v = 0; v < force_vectors; ++v) {
      T* at = block + i * force_columns<T> + v * lanes<T>;
      store(at, load<V>(at) - mean[v]);
    }
}

/// The sum of v and of v with lanes l and l ^ step exchanged.
template <int step, class V, int... l>
LADON_INLINE V add_exchanged(V v, std::integer_sequence<int, l...>) {
  return v + __builtin_shufflevector(v, v, (l ^ step)...);
}

template <class T, int step = lanes<T> / 2>
LADON_INLINE T lane_sum(Vector<T> v) {
  const Vector<T> sum = add_exchanged<step>(v, std::make_integer_sequence<int, lanes<T>>());
  if constexpr (step == 1)
    return sum[0];
  else
    return lane_sum<T, step / 2>(sum);
}

/// Computes rows [i, i + kept) of y in the block of columns that `g` and `x` hold. y points to the
/// first element of that block; only its first `width` columns exist.
template <bool mixes, class T>
LADON_INLINE void force_rows(const PairForces<T>& f, int64_t i, int64_t kept, int64_t count,
                             const T* g, const T* x, T* y, int64_t stride, int64_t width,
                             double* norms) {
  using V = Vector<T>;
  const T *k[sum_rows], *w[sum_rows];
  for (int64_t r = 0; r < sum_rows; ++r) {
    const int64_t row = (i + least(r, kept - 1)) * count;
    if constexpr (mixes) k[r] = f.k + row;
    w[r] = f.w + row;
  }
  V driving[sum_rows][force_vectors], shared[sum_rows][force_vectors];
  if constexpr (mixes) weigh<T>(k, g, count, driving);
  weigh<T>(w, x, count, shared);
  const bool whole = width >= force_columns<T>;
  T edge[force_columns<T>];
#pragma GCC unroll 4
  for (int64_t r = 0; r < sum_rows; ++r) {
    if (r >= kept) break;
    const int64_t own = (i + r) * force_columns<T>;
    T* const to = whole ? y + r * stride : edge;
    V of_driving{}, of_repulsive{}, of_y{};
#pragma GCC unroll 6
    for (int v = 0; v < force_vectors; ++v) {
      const int64_t at = own + v * lanes<T>;
      V d;
      if constexpr (mixes)
        d = driving[r][v];
      else
        d = load<V>(g + at);
      const V repulsive = f.total[i + r] * load<V>(x + at) - shared[r][v];
      const V sum = f.a * d + f.b * repulsive;
      of_driving += d * d;
      of_repulsive += repulsive * repulsive;
      of_y += sum * sum;
      store(to + v * lanes<T>, sum);
    }
    if (!whole)
      for (int64_t c = 0; c < width; ++c) y[r * stride + c] = edge[c];
    norms[i + r] += lane_sum<T>(of_driving);
    norms[count + i + r] += lane_sum<T>(of_repulsive);
    norms[2 * count + i + r] += lane_sum<T>(of_y);
  }
}

template <class T>
int64_t force_scratch(int64_t rows) {
  return 2 * force_blocks<T>(rows) * rows * force_columns<T>;
}

template <bool mixes, class T>
void add_forces_of(const PairForces<T>& f, const Rows<T>& g, const Rows<T>& x, T* y, T* scratch,
                   double* norms) {
  constexpr int64_t step = force_columns<T>;
  const int64_t m = x.count, most = force_blocks<T>(m) * step;
  T *const of_g = scratch, *const of_x = scratch + most * m;
  for (int64_t c = 0; c < x.columns; c += most) {
    const int64_t width = least(most, x.columns - c);
    pack_blocks(g, c, width, of_g);
    const int64_t blocks = pack_blocks(x, c, width, of_x);
    for (int64_t b = 0; b < blocks; ++b) centre(of_x + b * m * step, m);
    for (int64_t i = 0; i < m; i += sum_rows)
      for (int64_t b = 0; b < blocks; ++b)
        force_rows<mixes>(f, i, least(sum_rows, m - i), m, of_g + b * m * step, of_x + b * m * step,
                          y + i * x.stride + c + b * step, x.stride, width - b * step, norms);
  }
}

template <class T>
void add_forces(const PairForces<T>& f, const Rows<T>& g, const Rows<T>& x, T* y, T* scratch,
                double* norms) {
  (f.k ? add_forces_of<true, T> : add_forces_of<false, T>)(f, g, x, y, scratch, norms);
}

// --- norms, in double precision ---

constexpr int64_t norm_block = 32;  // number of sums that stay in registers

double total(double* sums) {
  for (int64_t half = norm_block / 2; half > 0; half /= 2)
    for (int64_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}

template <class T>
LADON_INLINE double square(T x) {
  return static_cast<double>(x) * static_cast<double>(x);
}

/// Calls term(i, lane) for all i < n: first for whole blocks, whose length is known at compile
/// time, then for the remaining elements.
template <class Term>
LADON_INLINE void by_blocks(int64_t n, const Term& term) {
  int64_t i = 0;
  for (; i + norm_block <= n; i += norm_block)
#pragma omp simd
    for (int64_t k = 0; k < norm_block; ++k) term(i + k, k);
  for (; i < n; ++i) term(i, i % norm_block);
}

template <class T>
double squared_norm(const T* x, int64_t n) {
  double sums[norm_block] = {};
  by_blocks(n, [&](int64_t i, int64_t lane) { sums[lane] += square(x[i]); });
  return total(sums);
}

/// Whether all elements of x are finite. 0·x is 0 if x is finite, and NaN if it is not.
template <class T>
bool all_finite(const T* x, int64_t n) {
  T zeros[norm_block] = {};
  by_blocks(n, [&](int64_t i, int64_t lane) { zeros[lane] += T(0) * x[i]; });
  for (const T zero : zeros)
    if (!(zero == 0)) return false;
  return true;
}

template <class T>
void add(T a, const T* x, T b, const T* z, T* y, int64_t n, double* squared_norms) {
  double of_x[norm_block] = {}, of_z[norm_block] = {}, of_y[norm_block] = {};
  by_blocks(n, [&](int64_t i, int64_t lane) {
    const T sum = a * x[i] + b * z[i];
    y[i] = sum;
    of_x[lane] += square(x[i]);
    of_z[lane] += square(z[i]);
    of_y[lane] += square(sum);
  });
  squared_norms[0] = total(of_x);
  squared_norms[1] = total(of_z);
  squared_norms[2] = total(of_y);
}

template <class T>
ParticleLoops<T> particle_loops() {
  return {add_pairs<SquaredDifference, T, T>,
          add_pairs<SquaredDifference, double, T>,
          add_pairs<Product, double, T>,
          mix<false, T>,
          mix<true, T>,
          add_forces<T>,
          force_scratch<T>,
          squared_norm<T>,
          all_finite<T>,
          add<T>};
}

}  // namespace

void add_particles(Loops& table) {
  table.f32.particles = particle_loops<float>();
  table.f64.particles = particle_loops<double>();
}

}  // namespace ladon::kernels::LADON_LEVEL
