#include "ladon/autograd/ops/compare.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/unary.h"

namespace ladon {
namespace {

using kernels::Compare;

Tensor compared(const char* name, Compare op, const Tensor& a, const Tensor& b) {
  return in_common_dtype(name, a, b, boolean, [op](const Tensor& u, const Tensor& v) {
    return kernels::compare(op, u, v);
  });
}
Tensor compared(const char* name, Compare op, const Tensor& x, double s) {
  return in_common_dtype(name, x, i64, [=](const Tensor& a) { return kernels::compare(op, a, s); });
}
Tensor of_booleans(const char* name, kernels::Binary op, const Tensor& a, const Tensor& b) {
  check_boolean(name, a);
  check_boolean(name, b);
  broadcast_shapes(name, a.shape(), b.shape());
  return kernels::binary(op, a, b);
}

}  // namespace

Tensor equal(const Tensor& a, const Tensor& b) { return compared("equal", Compare::eq, a, b); }
Tensor not_equal(const Tensor& a, const Tensor& b) {
  return compared("not_equal", Compare::ne, a, b);
}
Tensor less(const Tensor& a, const Tensor& b) { return compared("less", Compare::lt, a, b); }
Tensor less_equal(const Tensor& a, const Tensor& b) {
  return compared("less_equal", Compare::le, a, b);
}
Tensor greater(const Tensor& a, const Tensor& b) { return compared("greater", Compare::gt, a, b); }
Tensor greater_equal(const Tensor& a, const Tensor& b) {
  return compared("greater_equal", Compare::ge, a, b);
}
Tensor equal(const Tensor& x, double s) { return compared("equal", Compare::eq, x, s); }
Tensor not_equal(const Tensor& x, double s) { return compared("not_equal", Compare::ne, x, s); }
Tensor less(const Tensor& x, double s) { return compared("less", Compare::lt, x, s); }
Tensor less_equal(const Tensor& x, double s) { return compared("less_equal", Compare::le, x, s); }
Tensor greater(const Tensor& x, double s) { return compared("greater", Compare::gt, x, s); }
Tensor greater_equal(const Tensor& x, double s) {
  return compared("greater_equal", Compare::ge, x, s);
}

Tensor operator<(const Tensor& a, const Tensor& b) { return less(a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return less_equal(a, b); }
Tensor operator>(const Tensor& a, const Tensor& b) { return greater(a, b); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return greater_equal(a, b); }
Tensor operator<(const Tensor& x, double s) { return less(x, s); }
Tensor operator<=(const Tensor& x, double s) { return less_equal(x, s); }
Tensor operator>(const Tensor& x, double s) { return greater(x, s); }
Tensor operator>=(const Tensor& x, double s) { return greater_equal(x, s); }
Tensor operator<(double s, const Tensor& x) { return greater(x, s); }
Tensor operator<=(double s, const Tensor& x) { return greater_equal(x, s); }
Tensor operator>(double s, const Tensor& x) { return less(x, s); }
Tensor operator>=(double s, const Tensor& x) { return less_equal(x, s); }

Tensor logical_not(const Tensor& x) {
  check_boolean("logical_not", x);
  return kernels::compare(Compare::eq, x, 0);
}

Tensor logical_and(const Tensor& a, const Tensor& b) {
  return of_booleans("logical_and", kernels::Binary::minimum, a, b);
}

Tensor logical_or(const Tensor& a, const Tensor& b) {
  return of_booleans("logical_or", kernels::Binary::maximum, a, b);
}

Tensor isnan(const Tensor& x) { return not_equal(x, x); }

Tensor isfinite(const Tensor& x) {
  return in_common_dtype("isfinite", x.detach(), f32, [](const Tensor& a) {
    return kernels::compare(Compare::lt, kernels::unary(kernels::Unary::abs, a), HUGE_VAL);
  });
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  check_boolean("where", condition);
  check_defined("where", {a, b});
  broadcast_shapes("where", condition.shape(), broadcast_shapes("where", a.shape(), b.shape()));
  const Tensor y = in_common_dtype("where", a, b, boolean, [&](const Tensor& u, const Tensor& v) {
    return kernels::where(condition, u, v);
  });
  return record(
      "where", y, {a, b},
      [c = saved(condition)](const Tensor& g) { return masked_fill(g, logical_not(c), 0); },
      [c = saved(condition)](const Tensor& g) { return masked_fill(g, c, 0); });
}

Tensor where(const Tensor& condition, const Tensor& x, double s) {
  check_defined("where", {x});
  check_number("where", x, s);
  return where(condition, x, scalar(s, x.dtype()));
}
Tensor where(const Tensor& condition, double s, const Tensor& x) {
  check_defined("where", {x});
  check_number("where", x, s);
  return where(condition, scalar(s, x.dtype()), x);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  check_defined("masked_fill", {x});
  check_boolean("masked_fill", mask);
  check_number("masked_fill", x, value);
  LADON_CHECK(broadcast_shapes("masked_fill", x.shape(), mask.shape()) == x.shape(), "masked_fill",
              "the mask of shape ", mask.shape(), " does not broadcast to x's shape ", x.shape());
  return record("masked_fill", kernels::where(mask, scalar(value, x.dtype()), x), {x},
                [mask = saved(mask)](const Tensor& g) { return masked_fill(g, mask, 0); });
}

bool all_equal(const Tensor& a, const Tensor& b) {
  check_defined("all_equal", {a, b});
  return a.shape() == b.shape() && all(equal(a, b)).item<bool>();
}

bool all_close(const Tensor& a, const Tensor& b, double rtol, double atol) {
  check_defined("all_close", {a, b});
  if (!(a.shape() == b.shape())) return false;
  const NoGrad no_grad;
  const Tensor u = cast(a, f64), v = cast(b, f64);
  const Tensor near = less_equal(abs(u - v), atol + rtol * abs(v));  // true for any u if v is ∞
  return all(logical_or(equal(u, v), logical_and(near, isfinite(v)))).item<bool>();
}

}  // namespace ladon
