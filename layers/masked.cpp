#include "ladon/layers/masked.h"

#include <cmath>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon::detail {
namespace {

/// Magnitude from which a number counts as "odd", as NaN and ∞ do: its square may overflow.
double odd_from(DType dtype) { return dtype == f64 ? 0x1p500 : 0x1p60; }

/// Whether padding of x [N, .., d] may contain NaN, ∞ or a number from odd_from() on; true without
/// a search if x or the mask is mapped by vmap or not contiguous.
bool may_hold_odd(const Tensor& x, const Tensor& mask) {
  if (x.mapped() || mask.mapped() || !x.contiguous() || !mask.contiguous()) return true;
  const bool* visible = mask.data<bool>();
  const std::int64_t channels = x.size(-1);
  return visit_floating("padding", x.dtype(), [&]<class T>() {
    const T* values = x.data<T>();
    const T most = static_cast<T>(odd_from(x.dtype()));
    for (std::int64_t i = 0; i < mask.count(); ++i)
      for (std::int64_t c = 0; c < channels && !visible[i]; ++c)
        if (!(std::abs(values[i * channels + c]) < most)) return true;
    return false;
  });
}

/// True where an element of x is NaN, ∞ or in magnitude at least odd_from().
Tensor odd_of(const Tensor& x) { return logical_not(less(abs(x.detach()), odd_from(x.dtype()))); }

/// Whether `mask` is a mask of the positions of x, so that its padding can be replaced.
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
  if (x.dtype() == i64) return masked_fill(x, padding_of(x, mask), 0);
  if (!may_hold_odd(x, mask)) return x;
  return masked_fill(x, logical_and(padding_of(x, mask), odd_of(x)), 0);
}

Tensor settled(const std::function<Tensor(const Tensor& x)>& f, const Tensor& x,
               const Tensor& mask) {
  const Tensor y = f(x);
  const bool looks = fits(x, mask) && is_floating(x.dtype()) && fits(y, mask);
  if (!looks || !is_floating(y.dtype()) || !may_hold_odd(y, mask)) return y;
  const Tensor odd = any(odd_of(y), -1, Dims::keep);
  return f(masked_fill(x, logical_and(padding_of(x, mask), odd), 0));
}

Tensor spread_mask(std::string_view operation, const Tensor& x, const Tensor& mask) {
  const Shape wanted = {x.size(0), x.shape().sub(1, x.rank() - 1).count()};
  LADON_CHECK(mask.dtype() == boolean && mask.shape() == wanted, operation, "mask must be bool ",
              wanted, ", got ", mask.dtype(), " ", mask.shape());
  Shape spread = x.shape();
  spread[spread.rank() - 1] = 1;
  return reshape(mask, spread);
}

Tensor zero_masked(std::string_view operation, const Tensor& x, const Tensor& mask) {
  if (!mask.defined()) return x;
  return masked_fill(x, logical_not(spread_mask(operation, x, mask)), 0);
}

}  // namespace ladon::detail
