#include "ladon/layers/masked.h"

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"

namespace ladon::detail {
namespace {

/// Whether padding of a plain x [N, .., d] is 0 already, as most padding is: it then needs no copy.
bool is_blank(const Tensor& x, const Tensor& mask) {
  if (!is_plain(x) || mask.mapped() || !x.contiguous() || !mask.contiguous()) return false;
  const bool* visible = mask.data<bool>();
  const std::int64_t channels = x.size(-1);
  return visit_floating("blank_masked", x.dtype(), [&]<class T>() {
    const T* values = x.data<T>();
    for (std::int64_t i = 0; i < mask.count(); ++i)
      for (std::int64_t c = 0; c < channels && !visible[i]; ++c)
        if (values[i * channels + c] != 0) return false;
    return true;
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
  if (!indices && is_blank(x, mask)) return x;
  return masked_fill(x, logical_not(reshape(mask, spread)), 0);
}

}  // namespace ladon::detail
