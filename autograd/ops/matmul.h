#pragma once
// Matrix products.

#include "ladon/core/tensor.h"

namespace ladon {

/// Matrix product over the last two axes; leading axes broadcast:  [.., m, k] · [.., k, n] →
/// [.., m, n]. A vector is a row on the left and a column on the right, and its axis is dropped.
/// Floating dtypes; mixed ones are promoted to the larger. Throws Error when inner sizes differ.
Tensor matmul(const Tensor& a, const Tensor& b);

/// x·Wᵀ + b in one product:  [.., in] · [out, in]ᵀ + [out] → [.., out]. `bias` may be undefined.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// Σ a∘b over all elements of two tensors of the same shape; a scalar.
Tensor dot(const Tensor& a, const Tensor& b);

}  // namespace ladon
