#pragma once
// Reductions over axes, and scans. Sums of floats run in fixed blocks (pairwise over blocks), so
// they are accurate and do not depend on the number of threads. No gradients are recorded: see
// autograd/ops/reduce.h.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

enum class Reduce;  // listed in reduction.h

/// The name of a reduction in errors, a string literal.
const char* to_string(Reduce op);

/// Reduces x over the axes (normalized, ascending, distinct); keeps them with size 1 if `keep`.
Tensor reduce(Reduce op, const Tensor& x, const std::vector<int>& axes, bool keep);
/// Whether any element of x is true (or not 0), of all its examples if it is mapped
/// (core/mapped.h).
bool anywhere(const Tensor& x);

/// Sums x over the axes along which `shape` was broadcast to give x's shape.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// Index (i64) of the first largest (smallest) element of an axis; a NaN counts as both. Throws
/// Error if the axis is empty.
Tensor argmax(const Tensor& x, int axis, bool keep);
Tensor argmin(const Tensor& x, int axis, bool keep);

/// Running sum along an axis; booleans are summed as i64, f32 in double.
Tensor cumsum(const Tensor& x, int axis);

/// Running product along an axis; booleans are multiplied as i64, f32 in double.
Tensor cumprod(const Tensor& x, int axis);
/// h with h_t = a_t·h_{t−1} + b_t along an axis, from an initial h of 0. a and b must have the same
/// shape and dtype, not bool. Where a_t is 0, h_t = b_t even if h_{t−1} is not finite. f32 is
/// computed in double.
Tensor linear_recurrence(const Tensor& a, const Tensor& b, int axis);

/// Indices (i64) that sort an axis; stable. NaN counts as larger than any number.
Tensor argsort(const Tensor& x, int axis, bool descending);
/// The first k indices of argsort(), 0 ≤ k ≤ size of the axis: [.., k, ..].
Tensor argsort_first(const Tensor& x, int axis, bool descending, std::int64_t k);
/// Lower median of the magnitudes of all elements of an f64 tensor: a scale that a few huge or tiny
/// elements do not change. 0 if there are none.
double median_magnitude(const Tensor& x);

}  // namespace ladon::kernels
