#pragma once
// Sums of kernels over sliding windows of positions.

#include "ladon/core/tensor.h"
#include "ladon/layers/extra/images/window.h"

namespace ladon::infinite {

/// split_positions(): [.., T, T] → [.., H, W, H, W] for positions {H, W}, unchanged for {T}.
/// join_positions() is its inverse.
Tensor split_positions(const Tensor& k, const Shape& positions);
Tensor join_positions(const Tensor& k, const Shape& positions);

/// Sum over the taps of a window at i on one axis and at j on the other, with the same tap on both:
///   y[.., i, .., j, ..] = Σ_o k[.., at(i, o), .., at(j, o), ..]
/// with at(i, o) = i·stride − before + o·dilation. Outside the positions k is 0. Both axes have the
/// same length.
Tensor joint_window_sums(const Tensor& k, int axis1, int axis2, const SlidingWindow& window);

}  // namespace ladon::infinite
