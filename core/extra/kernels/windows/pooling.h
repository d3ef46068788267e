#pragma once
// Sums and maxima over windows of x [N, positions.., C], channel by channel. No gradients are
// recorded: see autograd/extra/windows/pooling.h.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// The positions that a window sees on one axis: first, first + step, … below stop.
struct Span {
  std::int64_t first, stop, step;
  std::int64_t count() const { return first < stop ? (stop - first - 1) / step + 1 : 0; }
};

/// Windows on one axis.
struct PoolingAxis {
  std::int64_t positions, count;  ///< Number of positions and of windows.
  /// Number of taps of a window. If it is 0, windows divide the n positions evenly, and window i
  /// sees [⌊i·n/count⌋, ⌈(i + 1)·n/count⌉).
  std::int64_t size = 0;
  std::int64_t stride = 1, dilation = 1, before = 0;  ///< As in Windows (patches.h).
  Span span(std::int64_t i) const;
};
using PoolingAxes = std::vector<PoolingAxis>;

/// Sum over each window: [N, counts.., C].
Tensor window_sums(const Tensor& x, const PoolingAxes& axes);
/// Adjoint of window_sums: [N, counts.., C] → [N, positions.., C].
Tensor spread_window_sums(const Tensor& g, const PoolingAxes& axes);
/// Number of positions in each window:  f64 [counts..].
Tensor window_sizes(const PoolingAxes& axes);

/// The largest element of each window, and the first position that has it (i64: its row-major index
/// among all positions), both [N, counts.., C]. NaN counts as larger than all numbers. For a window
/// that sees no position they are −∞ and −1.
struct WindowMaxima {
  Tensor values, indices;
};
WindowMaxima window_maxima(const Tensor& x, const PoolingAxes& axes);
/// Elements of x [N, positions.., C] at the indices of WindowMaxima, and 0 for index −1. add_at()
/// is the adjoint: it adds each element of g to position `indices` of a tensor of zeros.
Tensor pick_at(const Tensor& x, const Tensor& indices);
Tensor add_at(const Tensor& g, const Tensor& indices, const Shape& positions);

}  // namespace ladon::kernels
