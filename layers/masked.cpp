#include "ladon/layers/masked.h"

#include <cmath>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"

namespace ladon::detail {
namespace {

/// Whether padding of a plain x [N, .., d] has no element for which `replaced` holds, as most
/// padding has none: x then needs no copy.
template <class Replaced>
bool is_kept(const Tensor& x, const Tensor& mask, Replaced replaced) {
  if (!is_plain(x) || mask.mapped() || !x.contiguous() || !mask.contiguous()) return false;
  const bool* visible = mask.data<bool>();
  const std::int64_t channels = x.size(-1);
  return visit_floating("blank_masked", x.dtype(), [&]<class T>() {
    const T* values = x.data<T>();
    for (std::int64_t i = 0; i < mask.count(); ++i)
      for (std::int64_t c = 0; c < channels && !visible[i]; ++c)
        if (replaced(static_cast<double>(values[i * channels + c]))) return false;
    return true;
  });
}

/// Whether `mask` is one of positions of x, whose padding can be replaced.
bool fits(const Tensor& x, const Tensor& mask) {
  if (!mask.defined() || mask.dtype() != boolean || !x.defined()) return false;
  const bool indices = x.dtype() == i64;
  return (indices || is_floating(x.dtype())) && x.rank() >= (indices ? 2 : 3) &&
         mask.shape() == mask_shape(x);
}

/// True at padding, of a shape that broadcasts to x.
Tensor padding_of(const Tensor& x, const Tensor& mask) {
  Shape spread = x.shape();
  if (x.dtype() != i64) spread[spread.rank() - 1] = 1;
  return logical_not(reshape(mask, spread));
}

}  // namespace

Shape mask_shape(const Tensor& x) {
  const int channels = is_floating(x.dtype()) ? 1 : 0;
  return {x.size(0), x.shape().sub(1, x.rank() - channels).count()};
}

Tensor blank_masked(const Tensor& x, const Tensor& mask) {
  if (!fits(x, mask)) return x;
  if (x.dtype() != i64 && is_kept(x, mask, [](double value) { return value != 0; })) return x;
  return masked_fill(x, padding_of(x, mask), 0);
}

Tensor blank_odd_masked(const Tensor& x, const Tensor& mask) {
  if (!fits(x, mask)) return x;
  if (x.dtype() == i64) return blank_masked(x, mask);
  const double largest = x.dtype() == f64 ? 0x1p500 : 0x1p60;
  if (is_kept(x, mask, [&](double value) { return !(std::abs(value) < largest); })) return x;
  const Tensor odd = logical_not(less(abs(x.detach()), largest));
  return masked_fill(x, logical_and(padding_of(x, mask), odd), 0);
}

}  // namespace ladon::detail
