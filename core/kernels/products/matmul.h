#pragma once
// Matrix products of strided tensors. No gradients are recorded: see autograd/ops/matmul.h.

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// [.., m, k] · [.., k, n] → [.., m, n], contiguous; leading axes broadcast. Transposed operands
/// are not copied. Throws Error unless the inner sizes are equal, the leading axes broadcast and
/// both operands have the same floating dtype.
Tensor matmul(const Tensor& a, const Tensor& b);

/// matmul(a, b) + row: [.., m, k] · [.., k, n] + [n] → [.., m, n]. `row` must be contiguous.
Tensor affine(const Tensor& a, const Tensor& b, const Tensor& row);

/// a·b, plus `row` if it is defined, computed with the copy of b in this thread's PackedWeights.
/// Returns an undefined tensor if the product is recorded or b is none of the packed weights.
Tensor multiply_packed(const Tensor& a, const Tensor& b, const Tensor& row);

}  // namespace ladon::kernels
