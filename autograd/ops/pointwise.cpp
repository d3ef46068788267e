#include "ladon/autograd/ops/pointwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "ladon/autograd/elementwise.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/piecewise.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/piecewise_functions.h"
#include "ladon/core/kernels/reductions/moments.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/core/mapped.h"

namespace ladon {
namespace {

using kernels::Binary;
using kernels::Unary;

constexpr auto pass = [](const Tensor& g) { return g; };
constexpr auto zero = [](const Tensor& g) { return zeros_like(g); };

/// True where x ≠ 0 is finite, and `factor` or s·factor is not in the normal range of the dtype;
/// undefined if there is no such element.
Tensor out_of_range(const Tensor& factor, const Tensor& x, double s = 1) {
  const auto [least, most] = visit_floating("pow", factor.dtype(), []<class T>() {
    return std::pair<double, double>(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  });
  const double low = least / std::min(1.0, std::abs(s)), high = most / std::max(1.0, std::abs(s));
  const Tensor size = abs(factor.detach());
  if (kernels::all_within(mapped::show(size), low, high)) return {};  // the usual case, in one pass
  const Tensor out = logical_or(less(size, low), greater(size, high));
  const Tensor at = logical_and(out, logical_and(not_equal(x, 0), less(abs(x.detach()), HUGE_VAL)));
  return any(mapped::show(at)).item<bool>() ? at : Tensor();
}

/// g·s·x^e. Where `out` is true, x^e may be out of range although the product is not: there it is
/// computed as (g·r)·(s·r)·sign(x)^e with r² = |x|^e, and elsewhere by plain(x).
template <class Plain>
Tensor times_power(const Tensor& g, const Tensor& s, const Tensor& x, const Tensor& e,
                   const Tensor& out, Plain plain) {
  const Tensor within = where(out, 1, x), far = where(out, x, 1);
  const Tensor root = pow(abs(far), 0.5 * e);
  return where(out, (g * root) * (s * root) * pow(sign(far), e), plain(within));
}

}  // namespace

// --- two operands ---

Tensor add(const Tensor& a, const Tensor& b) { return elementwise(Binary::add, a, b, pass, pass); }

Tensor sub(const Tensor& a, const Tensor& b) {
  return elementwise(Binary::sub, a, b, pass, [](const Tensor& g) { return -g; });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  return elementwise(
      Binary::mul, a, b, [b = saved_for(a, b)](const Tensor& g) { return g * b; },  // ∂(ab)/∂a = b
      [a = saved_for(b, a)](const Tensor& g) { return g * a; });  // ∂(ab)/∂b = a
}

Tensor div(const Tensor& a, const Tensor& b) {
  return elementwise(
      Binary::div, a, b, [b = saved(b)](const Tensor& g) { return g / b; },  // ∂(a/b)/∂a = 1/b
      [b = saved(b)](const Tensor& g, const Tensor& y) { return -g * y / b; });  // ∂/∂b = −(a/b)/b
}

Tensor pow(const Tensor& a, const Tensor& b) {
  return elementwise(
      Binary::pow, a, b,
      [a = saved(a), b = saved(b)](const Tensor& g) {  // b·a^(b−1), which is 0 at a = b = 0
        const Tensor origin = logical_and(equal(a, 0), equal(b, 0));
        const Tensor e = where(origin, ones_like(*b), *b - 1), power = pow(a, e);
        const Tensor out = out_of_range(power, a);
        if (!out.defined()) return g * b * power;
        return times_power(g, b, a, e, out, [&](const Tensor& u) { return g * b * pow(u, e); });
      },
      [a = saved(a), b = saved(b)](const Tensor& g, const Tensor& y) {  // a^b·ln a, 0 at a = 0 ≤ b
        const Tensor vanishes = logical_and(equal(a, 0), greater_equal(b, 0));
        const Tensor logarithm = log(where(vanishes, ones_like(*a), a));
        const Tensor out = out_of_range(y, a);
        if (!out.defined()) return g * y * logarithm;
        return times_power(g, logarithm, a, b, out,
                           [&](const Tensor&) { return g * where(out, 1, y) * logarithm; });
      });
}

Tensor pow(const Tensor& x, double exponent) {
  return elementwise(Binary::pow, x, exponent, [x = saved(x), s = exponent](const Tensor& g) {
    if (s == 0) return zeros_like(g);
    const Tensor power = pow(x, s - 1);   // (x^s)' = s·x^(s−1)
    const bool exact = s == 1 || s == 2;  // then (x^s)' is 1 or 2x, which is in range
    const Tensor out = exact ? Tensor() : out_of_range(power, x, s);
    if (!out.defined()) return g * (s * power);
    return times_power(g, scalar(s, x->dtype()), x, scalar(s - 1, x->dtype()), out,
                       [&](const Tensor& u) { return g * (s * pow(u, s - 1)); });
  });
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  const auto share = [](const Tensor& g, const Tensor& mine, const Tensor& other) {
    return where(equal(mine, other), 0.5 * g, masked_fill(g, less(mine, other), 0));
  };
  return elementwise(
      Binary::maximum, a, b,
      [=, a = saved(a), b = saved(b)](const Tensor& g) { return share(g, a, b); },   // ∂/∂a
      [=, a = saved(a), b = saved(b)](const Tensor& g) { return share(g, b, a); });  // ∂/∂b
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  const auto share = [](const Tensor& g, const Tensor& mine, const Tensor& other) {
    return where(equal(mine, other), 0.5 * g, masked_fill(g, greater(mine, other), 0));
  };
  return elementwise(
      Binary::minimum, a, b,
      [=, a = saved(a), b = saved(b)](const Tensor& g) { return share(g, a, b); },   // ∂/∂a
      [=, a = saved(a), b = saved(b)](const Tensor& g) { return share(g, b, a); });  // ∂/∂b
}

Tensor maximum(const Tensor& x, double s) {
  return elementwise(Binary::maximum, x, s, [x = saved(x), s](const Tensor& g) {
    return where(equal(x, s), 0.5 * g, masked_fill(g, less(x, s), 0));  // 1 if x > s, ½ if x = s
  });
}

Tensor minimum(const Tensor& x, double s) {
  return elementwise(Binary::minimum, x, s, [x = saved(x), s](const Tensor& g) {
    return where(equal(x, s), 0.5 * g, masked_fill(g, greater(x, s), 0));  // 1 if x < s, ½ if x = s
  });
}

Tensor maximum(double s, const Tensor& x) { return maximum(x, s); }
Tensor minimum(double s, const Tensor& x) { return minimum(x, s); }

Tensor atan2(const Tensor& y, const Tensor& x) {
  // a/(a² + b²), and 0 at the origin and at infinity. a and b are divided by the larger of their
  // magnitudes, a constant in derivatives, so that squares do not overflow or underflow.
  // Where 1/unit leaves the range of numbers, g·(q/unit) is computed as (g/√unit)·(q/√unit).
  const auto slope = [](const Tensor& g, const Tensor& a, const Tensor& b) {
    const Tensor larger = maximum(abs(a.detach()), abs(b.detach()));
    const Tensor none = logical_or(equal(larger, 0), equal(larger, HUGE_VAL));
    const Tensor unit = where(none, 1, larger);
    const Tensor u = where(none, 0, a) / unit, v = where(none, 1, b) / unit;
    const Tensor q = u / (square(u) + square(v)), whole = q / unit;
    const Tensor out = out_of_range(whole, q);
    if (!out.defined()) return g * whole;
    const Tensor root = sqrt(where(out, unit, 1));
    return where(out, (g / root) * (q / root), g * (q / where(out, 1, unit)));
  };
  return elementwise(
      Binary::atan2, y, x,
      [=, y = saved(y), x = saved(x)](const Tensor& g) { return slope(g, x, y); },
      [=, y = saved(y), x = saved(x)](const Tensor& g) { return slope(-g, y, x); });
}

Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }

// --- a tensor and a number ---

Tensor operator+(const Tensor& x, double s) { return elementwise(Binary::add, x, s, pass); }

Tensor operator-(const Tensor& x, double s) { return elementwise(Binary::sub, x, s, pass); }

Tensor operator*(const Tensor& x, double s) {
  return elementwise(Binary::mul, x, s, [s](const Tensor& g) { return g * s; });
}

Tensor operator/(const Tensor& x, double s) {
  return elementwise(Binary::div, x, s, [s](const Tensor& g) { return g / s; });
}

Tensor operator+(double s, const Tensor& x) { return x + s; }

Tensor operator-(double s, const Tensor& x) {
  return elementwise(Binary::sub, s, x, [](const Tensor& g) { return -g; });
}

Tensor operator*(double s, const Tensor& x) { return x * s; }

Tensor operator/(double s, const Tensor& x) {
  return elementwise(Binary::div, s, x, [x = saved(x)](const Tensor& g, const Tensor& y) {
    return -g * y / x;  // (s/x)' = −(s/x)/x
  });
}

Tensor operator-(const Tensor& x) { return neg(x); }

// --- functions that map integers to integers ---

Tensor neg(const Tensor& x) {
  return elementwise(Unary::neg, x, [](const Tensor& g) { return -g; });
}

Tensor abs(const Tensor& x) {
  return elementwise(Unary::abs, x,
                     [x = saved(x)](const Tensor& g) { return g * sign(x); });  // |x|' = sign x
}

Tensor square(const Tensor& x) {
  return elementwise(Unary::square, x,
                     [x = saved(x)](const Tensor& g) { return g * (2.0 * x); });  // (x²)' = 2x
}

Tensor sign(const Tensor& x) { return elementwise(Unary::sign, x, zero); }

Tensor floor(const Tensor& x) { return elementwise(Unary::floor, x, zero); }

Tensor ceil(const Tensor& x) {
  check_defined("ceil", {x});
  if (is_whole(x.dtype())) return floor(x);
  return elementwise(Unary::ceil, x, zero);
}

Tensor round(const Tensor& x) {
  check_defined("round", {x});
  if (is_whole(x.dtype())) return floor(x);
  return elementwise(Unary::round, x, zero);
}

Tensor clamp(const Tensor& x, double low, double high) {
  check_defined("clamp", {x});
  LADON_CHECK(low <= high, "clamp", "the lower end ", low, " is above the upper end ", high);
  // Bounds for integers are rounded to integers. A lower bound of at most -2^63 and an upper bound
  // of at least 2^63 have no effect.
  if (is_whole(x.dtype())) {
    Tensor y = kernels::cast(x, i64);
    low = std::ceil(low);
    high = std::floor(high);
    if (low > -0x1p63) y = kernels::binary(Binary::maximum, y, low);
    return high < 0x1p63 ? kernels::binary(Binary::minimum, y, high) : y;
  }
  return piecewise("clamp", kernels::Piecewise::clamp, x, {low, high},
                   [=](const Tensor& g, const Tensor& u) {  // slope 1 in [low, high], else 0
                     return masked_fill(g, logical_or(less(u, low), greater(u, high)), 0);
                   });
}

Tensor cast(const Tensor& x, DType dtype) {
  check_defined("cast", {x});
  if (x.dtype() == dtype) return x;
  const Tensor y = kernels::cast(x, dtype);
  return is_floating(dtype) ? record("cast", y, {x}, pass) : y;
}

}  // namespace ladon
