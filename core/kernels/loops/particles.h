#pragma once
// Vector loops for sums over particles, which are the rows of a matrix (core/kernels/particles.h).

#include <cstdint>

namespace ladon::kernels {

/// Rows of `columns` elements; row i begins at data + i·stride.
template <class T>
struct Rows {
  const T* data;
  std::int64_t count, stride, columns;
};

/// Pairs of rows are processed in squares of pair_side × pair_side pairs.
inline constexpr std::int64_t pair_side = 4;

/// Weights of the forces y_i = a·Σ_j k_ij g_j + b·Σ_j w_ij (x_i − x_j) between M rows.
template <class T>
struct PairForces {
  const T* k;      ///< [M, M]; if null, g_i replaces Σ_j k_ij g_j
  const T* w;      ///< [M, M]
  const T* total;  ///< Σ_j w_ij  [M]
  T a, b;
};

template <class T>
struct ParticleLoops {
  /// For pairs of rows (i, j) with begin ≤ i < end and j ≤ i, adds a sum over columns c to
  /// sums[(i − begin)·width + j], in double precision. `begin` is a multiple of 64, and `sums` has
  /// room for whole squares of pair_side × pair_side pairs.
  using Pairs = void (*)(const Rows<T>& x, std::int64_t begin, std::int64_t end, double* sums,
                         std::int64_t width);
  Pairs squared_distances;  ///< Σ_c (x_i[c] − x_j[c])²; sums of up to 256 terms are in T
  Pairs wide_distances;     ///< the same sum, all in double precision
  Pairs inner_products;     ///< Σ_c x_i[c]·x_j[c], in double precision

  /// mix: y_i = Σ_j w[i·count + j]·x_j. mix_differences: y_i = Σ_j w[i·count + j]·(x_i − x_j). y
  /// has the stride of x.
  using Mix = void (*)(const T* w, const Rows<T>& x, T* y);
  Mix mix, mix_differences;

  /// Forces y (PairForces) at rows x whose gradients are g, both with the stride of y. The sum over
  /// differences, Σ_j w_ij (x_i − x_j), is formed as total_i·x̃_i − Σ_j w_ij x̃_j with x̃ = x minus
  /// the mean of all rows, which takes one multiplication per term. Adds to `norms` [3, M], for
  /// each row i, the squared norms of Σ_j k_ij g_j, of Σ_j w_ij (x_i − x_j), both without the
  /// factors a and b, and of y_i; squares are summed in T within a block of columns of a row.
  /// `scratch` has force_scratch(M) elements.
  void (*add_forces)(const PairForces<T>& forces, const Rows<T>& g, const Rows<T>& x, T* y,
                     T* scratch, double* norms);
  std::int64_t (*force_scratch)(std::int64_t rows);

  /// Σ_k x_k², in double precision.
  double (*squared_norm)(const T* x, std::int64_t n);
  bool (*all_finite)(const T* x, std::int64_t n);
  /// y = a·x + b·z, and the squared norms of x, z and y, in double precision.
  void (*add)(T a, const T* x, T b, const T* z, T* y, std::int64_t n, double squared_norms[3]);
};

}  // namespace ladon::kernels
