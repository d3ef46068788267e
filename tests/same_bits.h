#pragma once
// Comparison of tensors by their bits.

#include <cstring>

#include "ladon/autograd/ops.h"

namespace ladon::test {

/// Whether two tensors are both undefined, or equal in dtype, shape and all bits of their elements.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.count() == 0) return true;
  const Tensor x = contiguous(a.detach()), y = contiguous(b.detach());
  return std::memcmp(x.strided_bytes(), y.strided_bytes(),
                     static_cast<std::size_t>(x.count()) * item_size(x.dtype())) == 0;
}

}  // namespace ladon::test
