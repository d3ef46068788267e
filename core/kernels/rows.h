#pragma once
// Views of a tensor as rows, for functions that run along one axis.

#include <algorithm>
#include <numeric>
#include <vector>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/strided.h"
#include "ladon/core/view.h"

namespace ladon::kernels {

/// View of x with `axis` moved to the end; axis_from_end moves the last axis back to `axis`.
Tensor axis_to_end(const Tensor& x, int axis);
Tensor axis_from_end(const Tensor& x, int axis);

/// Number of rows of n elements that make up one task.
inline std::int64_t rows_per_task(std::int64_t n) {
  return std::max<std::int64_t>(1, task_length / std::max<std::int64_t>(1, n));
}

/// Runs body(row) for rows of n elements, on all threads.
template <class F>
void for_rows(std::int64_t rows, std::int64_t n, const F& body) {
  const auto range = [&body](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row);
  };
  const std::int64_t grain = rows_per_task(n);
  if (rows <= grain) return range(0, rows);
  parallel::for_range(rows, grain, range);
}

/// Calls f with contiguous copies of the tensors in which `axis` is moved to the end. In the result
/// of f, the last axis is moved back to `axis`.
template <class F, class... Tensors>
Tensor along_axis(int axis, const F& f, const Tensor& x, const Tensors&... more) {
  if (axis == x.rank() - 1) return f(contiguous(x), contiguous(more)...);
  const Tensor y = f(contiguous(axis_to_end(x, axis)), contiguous(axis_to_end(more, axis))...);
  return contiguous(axis_from_end(y, axis));
}

}  // namespace ladon::kernels
