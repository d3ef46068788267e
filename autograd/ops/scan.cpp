// cumsum(), cumprod() and linear_recurrence() of reduce.h.

#include <cmath>

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/reductions/reduce.h"

namespace ladon {

Tensor cumsum(const Tensor& x, int axis) {
  check_defined("cumsum", {x});
  const int a = detail::normalize_axis("cumsum", axis, x.rank());
  return record("cumsum", kernels::cumsum(x, a), {x}, [a](const Tensor& g) {
    return flip(cumsum(flip(g, {a}), a), {a});  // ∂y_i/∂x_j = [j ≤ i]
  });
}

namespace {

/// x shifted by one towards the end of the axis, with `first` as its first element.
Tensor delayed(const Tensor& x, int axis, double first) {
  Shape one = x.shape();
  one[axis] = 1;
  return concat({full(one, first, x.dtype()), slice(x, axis, {.stop = -1})}, axis);
}

/// x·y, but 0 where one factor is 0 and the other is infinite. The infinite factor is taken as an
/// overflow of a finite number, so that the exact product is 0.
Tensor product_or_0(const Tensor& x, const Tensor& y) {
  const auto lost = [](const Tensor& u, const Tensor& v) {
    return logical_and(equal(u, 0), equal(abs(v), HUGE_VAL));
  };
  const Tensor none = logical_or(lost(x, y), lost(y, x));
  return masked_fill(x, none, 0) * masked_fill(y, none, 0);
}

/// S_t = g_t + a_{t+1}·S_{t+1}: the adjoint of the recurrence with coefficients a.
Tensor swept_back(const Tensor& a, const Tensor& g, int axis) {
  const Tensor following = delayed(flip(a, {axis}), axis, 0);
  return flip(linear_recurrence(following, flip(g, {axis}), axis), {axis});
}

}  // namespace

Tensor linear_recurrence(const Tensor& a, const Tensor& b, int axis) {
  check_defined("linear_recurrence", {a, b});
  LADON_CHECK(a.shape() == b.shape(), "linear_recurrence",
              "a and b must have the same shape, but their shapes differ: ", a.shape(), " and ",
              b.shape());
  const int along = detail::normalize_axis("linear_recurrence", axis, a.rank());
  const auto compute = [along](const Tensor& u, const Tensor& v) {
    return kernels::linear_recurrence(u, v, along);
  };
  const Tensor h = in_common_dtype("linear_recurrence", a, b, i64, compute);
  if (h.size(along) == 0) return record("linear_recurrence", h, {a, b}, zeros_like, zeros_like);
  const auto by_b = [along, a = saved(a)](const Tensor& g) { return swept_back(a, g, along); };
  return record(
      "linear_recurrence", h, {a, b},
      [by_b, along](const Tensor& g, const Tensor& y) {
        return product_or_0(by_b(g), delayed(y, along, 0));
      },
      by_b);
}

Tensor cumprod(const Tensor& x, int axis) {
  check_defined("cumprod", {x});
  const int a = detail::normalize_axis("cumprod", axis, x.rank());
  const Tensor y = kernels::cumprod(x, a);
  if (x.size(a) == 0) return record("cumprod", y, {x}, zeros_like);
  return record("cumprod", y, {x}, [a, x = saved(x)](const Tensor& g, const Tensor& out) {
    // The gradient with respect to x_i needs no division:
    // Σ_{k≥i} g_k·Π_{j≤k, j≠i} x_j = (Π_{j<i} x_j)·S_i with S_i = g_i + x_{i+1}·S_{i+1}.
    // It is computed in f64, since in f32 a factor may overflow or underflow though the product
    // does not.
    if (out.dtype() == f64) return product_or_0(delayed(out, a, 1), swept_back(x, g, a));
    const Tensor wide = cast(x, f64);
    const Tensor before = delayed(cumprod(wide, a), a, 1);
    return cast(product_or_0(before, swept_back(wide, cast(g, f64), a)), out.dtype());
  });
}

}  // namespace ladon
