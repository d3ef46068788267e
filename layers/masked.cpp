#include "ladon/layers/masked.h"

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"

namespace ladon::detail {

Tensor blank_masked(const Tensor& x, const Tensor& mask) {
  if (!mask.defined() || in_another_layer()) return x;
  if (mask.dtype() != boolean || mask.rank() != 2) return x;
  if (!x.defined() || x.rank() < 2) return x;
  const bool indices = x.dtype() == i64;
  const int axes = indices ? x.rank() : x.rank() - 1;  // without channels
  const Shape positions{x.size(0), x.shape().sub(1, axes).count()};
  if (mask.shape() != positions) return x;
  Shape spread = x.shape().sub(0, axes);
  if (!indices) spread.append(1);
  const Tensor padding = logical_not(reshape(mask, spread));
  if (indices) return masked_fill(x, padding, 0);
  const Tensor odd = logical_not(less(abs(x.detach()), x.dtype() == f64 ? 0x1p500 : 0x1p60));
  return masked_fill(x, logical_and(padding, odd), 0);
}

}  // namespace ladon::detail
