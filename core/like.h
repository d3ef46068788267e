#pragma once
// Constant tensors with the dtype of another tensor x, of a given shape or of the shape of x.
//
//   scatter_reduce(zeros_like(x, {nodes, dim}), 0, at, x, …);   // zeros of x's dtype

#include "ladon/core/tensor.h"

namespace ladon {

inline Tensor full_like(const Tensor& x, double value, const Shape& shape) {
  return full(shape, value, x.dtype());
}
inline Tensor zeros_like(const Tensor& x, const Shape& shape) { return zeros(shape, x.dtype()); }
inline Tensor ones_like(const Tensor& x, const Shape& shape) { return ones(shape, x.dtype()); }

/// A tensor of the shape and dtype of x, filled with `value`.
inline Tensor full_like(const Tensor& x, double value) { return full(x.shape(), value, x.dtype()); }

}  // namespace ladon
