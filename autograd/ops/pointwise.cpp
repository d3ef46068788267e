#include "ladon/autograd/ops/pointwise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ladon/autograd/elementwise.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/piecewise.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/piecewise_functions.h"
#include "ladon/core/kernels/unary.h"

namespace ladon {
namespace {

using kernels::Binary;
using kernels::Unary;

constexpr auto pass = [](const Tensor& g) { return g; };
constexpr auto zero = [](const Tensor& g) { return zeros_like(g); };

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
        return g * b * pow(a, where(origin, ones_like(*b), *b - 1));
      },
      [a = saved(a), b = saved(b)](const Tensor& g, const Tensor& y) {  // a^b·ln a, 0 at a = 0 ≤ b
        const Tensor vanishes = logical_and(equal(a, 0), greater_equal(b, 0));
        return g * y * log(where(vanishes, ones_like(*a), a));
      });
}

Tensor pow(const Tensor& x, double exponent) {
  return elementwise(Binary::pow, x, exponent, [x = saved(x), s = exponent](const Tensor& g) {
    return s == 0 ? zeros_like(g) : g * (s * pow(x, s - 1));  // s·x^(s−1)
  });
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  const auto share = [](const Tensor& g, const Tensor& mine, const Tensor& other) {
    return where(equal(mine, other), 0.5 * g, masked_fill(g, less(mine, other), 0));
  };
  return elementwise(
      Binary::maximum, a, b,
      [=, a = saved(a), b = saved(b)](const Tensor& g) { return share(g, a, b); },   // [a > b]
      [=, a = saved(a), b = saved(b)](const Tensor& g) { return share(g, b, a); });  // [b > a]
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  const auto share = [](const Tensor& g, const Tensor& mine, const Tensor& other) {
    return where(equal(mine, other), 0.5 * g, masked_fill(g, greater(mine, other), 0));
  };
  return elementwise(
      Binary::minimum, a, b,
      [=, a = saved(a), b = saved(b)](const Tensor& g) { return share(g, a, b); },   // [a < b]
      [=, a = saved(a), b = saved(b)](const Tensor& g) { return share(g, b, a); });  // [b < a]
}

Tensor maximum(const Tensor& x, double s) {
  return elementwise(Binary::maximum, x, s, [x = saved(x), s](const Tensor& g) {
    return where(equal(x, s), 0.5 * g, masked_fill(g, less(x, s), 0));  // [x > s]
  });
}

Tensor minimum(const Tensor& x, double s) {
  return elementwise(Binary::minimum, x, s, [x = saved(x), s](const Tensor& g) {
    return where(equal(x, s), 0.5 * g, masked_fill(g, greater(x, s), 0));  // [x < s]
  });
}

Tensor maximum(double s, const Tensor& x) { return maximum(x, s); }
Tensor minimum(double s, const Tensor& x) { return minimum(x, s); }

Tensor atan2(const Tensor& y, const Tensor& x) {
  // a/(a² + b²), and 0 at the origin and at infinity. a and b are divided by the larger of their
  // magnitudes, a constant in derivatives, so that squares do not overflow or underflow.
  const auto slope = [](const Tensor& a, const Tensor& b) {
    const Tensor larger = maximum(abs(a.detach()), abs(b.detach()));
    const Tensor none = logical_or(equal(larger, 0), equal(larger, HUGE_VAL));
    const Tensor unit = where(none, 1, larger);
    const Tensor u = where(none, 0, a) / unit, v = where(none, 1, b) / unit;
    return u / (square(u) + square(v)) / unit;
  };
  return elementwise(
      Binary::atan2, y, x,
      [=, y = saved(y), x = saved(x)](const Tensor& g) { return g * slope(x, y); },
      [=, y = saved(y), x = saved(x)](const Tensor& g) { return -g * slope(y, x); });
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
  if (is_whole(x.dtype())) {  // round inwards to integers; ±∞ is beyond their range: no bound
    Tensor y = kernels::cast(x, i64);
    low = std::ceil(low);
    high = std::floor(high);
    if (low > -0x1p63) y = kernels::binary(Binary::maximum, y, low);
    return high < 0x1p63 ? kernels::binary(Binary::minimum, y, high) : y;
  }
  return piecewise("clamp", kernels::Piecewise::clamp, x, {low, high},
                   [=](const Tensor& g, const Tensor& u) {  // 1 inside, 0 outside
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
