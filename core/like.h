#pragma once
// Constant tensors with the dtype of another tensor, in a given shape or in that tensor's.
//
//   scatter_reduce(zeros_like(x, {nodes, dim}), 0, at, x, …);   // f64 where x is

#include "ladon/core/tensor.h"

namespace ladon {

inline Tensor full_like(const Tensor& x, double value, const Shape& shape) {
  return full(shape, value, x.dtype());
}
inline Tensor zeros_like(const Tensor& x, const Shape& shape) { return zeros(shape, x.dtype()); }
inline Tensor ones_like(const Tensor& x, const Shape& shape) { return ones(shape, x.dtype()); }

/// In the shape of x.
inline Tensor full_like(const Tensor& x, double value) { return full(x.shape(), value, x.dtype()); }

}  // namespace ladon
