#include "ladon/core/view.h"

#include "ladon/core/error.h"

namespace ladon::view {
namespace {

Tensor window(const Tensor& x, const Shape& shape, const Shape& strides, std::int64_t offset) {
  if (!x.mapped()) return Tensor(x.storage(), x.dtype(), shape, strides, offset);
  const Tensor all = x.with_examples();
  Shape sizes = shape, steps = strides;
  sizes.insert(0, all.shape()[0]);
  steps.insert(0, all.strides()[0]);
  return Tensor::over_examples(Tensor(x.storage(), x.dtype(), sizes, steps, offset), x.levels());
}

}  // namespace

Tensor permute(const Tensor& x, const std::vector<int>& order) {
  detail::require(static_cast<int>(order.size()) == x.rank(), "a permutation names every axis");
  Shape shape, strides;
  for (int axis : order) {
    shape.append(x.shape()[axis]);
    strides.append(x.strides()[axis]);
  }
  return window(x, shape, strides, x.offset());
}

Tensor transpose(const Tensor& x, int a, int b) {
  Shape shape = x.shape(), strides = x.strides();
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
  return window(x, shape, strides, x.offset());
}

// Walks the old and the new shape from the right. A group of old axes that is evenly spaced in
// memory (stride[i] = stride[i+1]·size[i+1]) may be cut into new axes in any way. If a new axis
// would extend over two groups, no view has the new shape.
Tensor try_reshape(const Tensor& x, const Shape& shape) {
  if (x.contiguous() || x.count() == 0)
    return window(x, shape, detail::contiguous_strides(shape), x.offset());
  Shape sizes, steps;
  for (int i = 0; i < x.rank(); ++i) {
    if (x.shape()[i] == 1) continue;
    sizes.append(x.shape()[i]);
    steps.append(x.strides()[i]);
  }
  Shape strides = shape;
  int old = sizes.rank() - 1;
  int next = shape.rank() - 1;
  while (old >= 0) {
    std::int64_t group = sizes[old];
    const std::int64_t step = steps[old];
    while (old > 0 && steps[old - 1] == step * group) group *= sizes[--old];
    --old;
    std::int64_t filled = 1;
    while (next >= 0 && filled < group) {
      strides[next] = step * filled;
      filled *= shape[next--];
    }
    if (filled != group) return Tensor();
  }
  while (next >= 0) strides[next--] = 1;  // only axes of size 1 are left
  return window(x, shape, strides, x.offset());
}

Tensor expand(const Tensor& x, const Shape& shape) {
  Shape strides = Shape::filled(shape.rank(), 0);
  const int lead = shape.rank() - x.rank();
  for (int i = 0; i < x.rank(); ++i) {
    const bool same = x.shape()[i] == shape[lead + i];
    detail::require(same || x.shape()[i] == 1, "only axes of size 1 are expanded");
    strides[lead + i] = same ? x.strides()[i] : 0;
  }
  return window(x, shape, strides, x.offset());
}

Tensor slice(const Tensor& x, int axis, std::int64_t start, std::int64_t length,
             std::int64_t step) {
  Shape shape = x.shape(), strides = x.strides();
  const std::int64_t offset = length > 0 ? start * strides[axis] : 0;
  shape[axis] = length;
  strides[axis] *= step;
  return window(x, shape, strides, x.offset() + offset);
}

Tensor select(const Tensor& x, int axis, std::int64_t index) {
  Shape shape = x.shape(), strides = x.strides();
  const std::int64_t offset = index * strides[axis];
  shape.erase(axis);
  strides.erase(axis);
  return window(x, shape, strides, x.offset() + offset);
}

Tensor unsqueeze(const Tensor& x, int axis) {
  Shape shape = x.shape(), strides = x.strides();
  const std::int64_t stride = axis < x.rank() ? shape[axis] * strides[axis] : 1;
  shape.insert(axis, 1);
  strides.insert(axis, stride);
  return window(x, shape, strides, x.offset());
}

Tensor squeeze(const Tensor& x, int axis) {
  detail::require(x.shape()[axis] == 1, "only axes of size 1 are squeezed");
  return select(x, axis, 0);
}

Tensor diagonal(const Tensor& x, std::int64_t offset, int axis1, int axis2) {
  Shape shape = x.shape(), strides = x.strides();
  const std::int64_t row = offset < 0 ? -offset : 0, column = offset > 0 ? offset : 0;
  const std::int64_t length =
      std::max<std::int64_t>(0, std::min(shape[axis1] - row, shape[axis2] - column));
  const std::int64_t start = length > 0 ? row * strides[axis1] + column * strides[axis2] : 0;
  const std::int64_t step = strides[axis1] + strides[axis2];
  shape.erase(std::max(axis1, axis2));
  strides.erase(std::max(axis1, axis2));
  shape.erase(std::min(axis1, axis2));
  strides.erase(std::min(axis1, axis2));
  shape.append(length);
  strides.append(step);
  return window(x, shape, strides, x.offset() + start);
}

}  // namespace ladon::view
