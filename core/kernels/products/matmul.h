#pragma once
// Matrix products of strided tensors. No gradients: see autograd/ops/matmul.h.

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// [.., m, k] · [.., k, n] → [.., m, n], contiguous; leading axes broadcast. One floating dtype.
/// Transposed operands are not copied. Throws Error where shapes do not fit.
Tensor matmul(const Tensor& a, const Tensor& b);

/// matmul(a, b) plus a row: [.., m, k] · [.., k, n] + [n]. `row` is contiguous.
Tensor affine(const Tensor& a, const Tensor& b, const Tensor& row);

/// a·b, plus `row` if it is defined, with the copy of b in this thread's PackedWeights; undefined
/// if they have no copy of it.
Tensor multiply_packed(const Tensor& a, const Tensor& b, const Tensor& row);

}  // namespace ladon::kernels
