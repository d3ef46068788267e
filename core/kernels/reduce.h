#pragma once
// Reductions over axes, and scans. Sums of floats run in fixed blocks (pairwise over blocks), so
// they are accurate and do not depend on the number of threads. No gradients: see
// autograd/ops/reduce.h.

#include <utility>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// Sums of booleans and integers are i64. The reduction of nothing is 0, 1, −∞, +∞, false, true for
/// sum, prod, max, min, any, all; max and min of integers over nothing throw Error. NaN propagates
/// through max and min.
enum class Reduce { sum, prod, max, min, any, all, sum_squares, sum_abs };

/// Reduces the axes (normalized, ascending, distinct); keeps them with size 1 if `keep`.
Tensor reduce(Reduce op, const Tensor& x, const std::vector<int>& axes, bool keep);

/// Sums x over the axes along which `shape` was broadcast to give x's shape.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// Index (i64) of the first largest (smallest) element of an axis. Throws Error if the axis is
/// empty.
Tensor argmax(const Tensor& x, int axis, bool keep);
Tensor argmin(const Tensor& x, int axis, bool keep);

/// Running sum along an axis.
Tensor cumsum(const Tensor& x, int axis);

/// Indices (i64) that sort an axis; stable.
Tensor argsort(const Tensor& x, int axis, bool descending);

}  // namespace ladon::kernels
