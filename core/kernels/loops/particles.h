#pragma once
// Sums over the rows of a matrix, the particles (core/kernels/particles.h).

#include <cstdint>

namespace ladon::kernels {

/// Rows of `columns` elements; row i begins at data + i·stride.
template <class T>
struct Rows {
  const T* data;
  std::int64_t count, stride, columns;
};

/// Side of the squares in which pairs of rows are processed.
inline constexpr std::int64_t pair_side = 4;

template <class T>
struct ParticleLoops {
  /// For pairs of rows (i, j) with begin ≤ i < end and j ≤ i, adds the sum below to
  /// sums[(i − begin)·width + j], in double precision. `begin` is a multiple of 64, and `sums` has
  /// room for whole squares of pair_side × pair_side pairs.
  using Pairs = void (*)(const Rows<T>& x, std::int64_t begin, std::int64_t end, double* sums,
                         std::int64_t width);
  Pairs squared_distances;  ///< Σ_c (x_i[c] − x_j[c])²
  Pairs inner_products;     ///< Σ_c x_i[c]·x_j[c]

  /// mix: y_i = Σ_j w[i·count + j]·x_j. mix_differences: y_i = Σ_j w[i·count + j]·(x_i − x_j). y
  /// has the stride of x.
  using Mix = void (*)(const T* w, const Rows<T>& x, T* y);
  Mix mix, mix_differences;

  /// Σ_k x_k², in double precision.
  double (*squared_norm)(const T* x, std::int64_t n);
  /// y = a·x + b·z, and the squared norms of x, z and y, in double precision.
  void (*add)(T a, const T* x, T b, const T* z, T* y, std::int64_t n, double squared_norms[3]);
};

}  // namespace ladon::kernels
