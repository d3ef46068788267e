#include "ladon/layers/masked.h"

#include <cmath>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"

namespace ladon::detail {
namespace {

double largest_kept(DType dtype) { return dtype == f64 ? 0x1p500 : 0x1p60; }

/// Whether padding holds a number that is to be replaced, read from x [N, .., d] as it stands in
/// memory: most padding does not, and x then needs no copy. True also where that cannot be read.
bool may_hold_odd(const Tensor& x, const Tensor& mask) {
  if (x.mapped() || mask.mapped() || !x.contiguous() || !mask.contiguous()) return true;
  const bool* visible = mask.data<bool>();
  const std::int64_t channels = x.size(-1);
  return visit_floating("blank_masked", x.dtype(), [&]<class T>() {
    const T* values = x.data<T>();
    const T most = static_cast<T>(largest_kept(x.dtype()));
    for (std::int64_t i = 0; i < mask.count(); ++i)
      for (std::int64_t c = 0; c < channels && !visible[i]; ++c)
        if (!(std::abs(values[i * channels + c]) < most)) return true;
    return false;
  });
}

}  // namespace

Shape mask_shape(const Tensor& x) {
  const int channels = is_floating(x.dtype()) ? 1 : 0;
  return {x.size(0), x.shape().sub(1, x.rank() - channels).count()};
}

Tensor blank_masked(const Tensor& x, const Tensor& mask) {
  if (!mask.defined() || mask.dtype() != boolean || !x.defined()) return x;
  const bool indices = x.dtype() == i64;
  if (!indices && !is_floating(x.dtype())) return x;
  if (x.rank() < (indices ? 2 : 3) || mask.shape() != mask_shape(x)) return x;
  Shape spread = x.shape();
  if (!indices) spread[spread.rank() - 1] = 1;
  const Tensor padding = logical_not(reshape(mask, spread));
  if (indices) return masked_fill(x, padding, 0);
  if (!may_hold_odd(x, mask)) return x;
  const Tensor odd = logical_not(less(abs(x.detach()), largest_kept(x.dtype())));
  return masked_fill(x, logical_and(padding, odd), 0);
}

}  // namespace ladon::detail
