#pragma once
// Products with a matrix whose rows are scattered over memory in pieces, such as the patches of a
// convolution in its images; the pieces are read in place.

#include <cstdint>

namespace ladon::kernels {

/// Matrix whose rows are elements [first, first + length) of several pieces, side by side: element
/// s·length + p of row i is at[i·stride + s][first + p], for s < pieces and p < length.
template <class T>
struct GatheredRows {
  const T* const* at;
  std::int64_t stride, pieces, first, length;
};

/// Products with a gathered A [m, k], k = pieces·length. `right` is B packed in panels of
/// GemmLoops::columns columns; sums run over their terms in order.
template <class T>
struct GatheredLoops {
  /// C ← A·B + C if `add`; if not, C ← A·B with `row` [n] added to each row, unless it is null.
  ///   B [k, n], C [m, n]
  void (*multiply)(std::int64_t m, std::int64_t n, const GatheredRows<T>& a, const T* right,
                   bool add, const T* row, T* c, std::int64_t c_row);
  /// C ← Aᵀ·B + C.   B [m, n], C [k, n]
  void (*multiply_transposed)(std::int64_t m, std::int64_t n, const GatheredRows<T>& a,
                              const T* right, T* c, std::int64_t c_row);

  // The two loops below are for convolutions in groups of `group` input and `group` output
  // channels, with n input and n output channels in total. A row of A holds n channels for each tap
  // t. Output j sees the channels of its group, first(j) + q for q < group. If a vector would not
  // hold whole groups, channels are computed one by one.

  /// c[i, j] ← Σ_{t, q} A[i, t][first(j) + q]·w[t, q, j] + row[j]; a null `row` counts as 0.
  ///   w [taps, group, n], C [m, n]
  void (*multiply_channels)(std::int64_t m, std::int64_t n, std::int64_t group,
                            const GatheredRows<T>& a, const T* w, const T* row, T* c,
                            std::int64_t c_row);
  /// c[t, q, j] ← Σ_i A[i, t][first(j) + q]·g[i, j] + c[t, q, j].   g [m, n], C [taps, group, n]
  void (*multiply_channels_transposed)(std::int64_t m, std::int64_t n, std::int64_t group,
                                       const GatheredRows<T>& a, const T* g, std::int64_t g_row,
                                       T* c);
};

}  // namespace ladon::kernels
