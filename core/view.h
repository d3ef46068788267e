#pragma once
// Views: windows on the same storage. These record no gradient; the recorded operations of the same
// names are in autograd/ops/shape.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::view {

/// Axes in a new order: result axis i is axis order[i] of x. `order` is already normalized.
Tensor permute(const Tensor& x, const std::vector<int>& order);
Tensor transpose(const Tensor& x, int a, int b);
/// View of x with `shape`, which must have no −1, and as many elements as x. Returns an undefined
/// tensor if the strides of x allow no such view.
Tensor try_reshape(const Tensor& x, const Shape& shape);
/// View of x with `shape`: stretches axes of size 1, and adds leading axes, with stride 0.
Tensor expand(const Tensor& x, const Shape& shape);
/// `length` elements of an axis from `start`, every `step`-th; step may be negative.
Tensor slice(const Tensor& x, int axis, std::int64_t start, std::int64_t length, std::int64_t step);
/// Takes one index of an axis and drops the axis.
Tensor select(const Tensor& x, int axis, std::int64_t index);
Tensor unsqueeze(const Tensor& x, int axis);
/// Drops an axis of size 1.
Tensor squeeze(const Tensor& x, int axis);
/// The diagonal of axes axis1 and axis2, which are dropped, as a new last axis.
Tensor diagonal(const Tensor& x, std::int64_t offset, int axis1, int axis2);

}  // namespace ladon::view
