#pragma once
// Matrix products.

#include <string_view>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// Matrix product over the last two axes, leading axes broadcast:  [.., m, k] · [.., k, n] → [..,
/// m, n]. A vector is a row on the left and a column on the right, and its axis is dropped.
/// Floating dtypes; mixed ones compute in the larger. Throws Error when inner sizes differ.
Tensor matmul(const Tensor& a, const Tensor& b);

/// x·Wᵀ + b in one product:  [.., in] · [out, in]ᵀ + [out] → [.., out]. `bias` may be undefined.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

/// Einstein summation: einsum("bqd,bkd->bqk", {q, k}). Letters a–z, A–Z; `...` for broadcast axes;
/// a repeated letter in an operand takes the diagonal; without "->" the output has the letters that
/// occur once, in alphabetical order. Any number of operands, contracted from the left.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);

/// Σ_ij a·b over all elements of two tensors of one shape; a scalar.
Tensor dot(const Tensor& a, const Tensor& b);

}  // namespace ladon
