// ONNX operators: arithmetic, and functions of one element.

#include <functional>

#include "case.h"
#include "ladon/autograd/ops.h"

namespace ladon::golden {
namespace {

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);
template <Unary f>
Tensors unary(const Case& c) {
  return {f(c.in(0))};
}

template <class F>
Tensor fold(const Case& c, F f) {
  Tensor y = c.in(0);
  for (std::size_t i = 1; i < c.inputs(); ++i) y = f(y, c.in(i));
  return y;
}

Tensor trunc(const Tensor& x) { return sign(x) * floor(abs(x)); }

/// Integers divided toward zero. The quotient in f64 is at most one off; the remainder tells.
Tensor divide_integers(const Tensor& a, const Tensor& b) {
  const Tensor m = abs(a), n = abs(b);
  Tensor q = cast(floor(cast(m, f64) / cast(n, f64)), i64);
  const Tensor rest = m - q * n;
  q = q + cast(greater_equal(rest, n), i64) - cast(less(rest, 0), i64);
  return sign(a) * sign(b) * q;
}

Tensor divide(const Tensor& a, const Tensor& b) {
  return is_floating(promote(a.dtype(), b.dtype())) ? a / b : divide_integers(a, b);
}

/// fmod = 1: the remainder has the sign of the dividend; 0: of the divisor.
Tensor mod(const Tensor& a, const Tensor& b, bool fmod) {
  if (!is_floating(a.dtype())) {
    const Tensor r = a - divide_integers(a, b) * b;
    const Tensor fix = logical_and(not_equal(r, 0), not_equal(sign(r), sign(b)));
    return fmod ? r : where(fix, r + b, r);
  }
  const Tensor x = cast(a, f64), y = cast(b, f64), q = x / y;
  return cast(x - (fmod ? trunc(q) : floor(q)) * y, a.dtype());
}

/// x·2^n to the left, x/2^n to the right.
Tensors bit_shift(const Case& c) {
  const Tensor &x = c.in(0), &n = c.in(1);
  const Tensor power_of_2 = cast(pow(scalar(2, f64), cast(n, f64)), i64);
  return {c.text("direction", "") == "LEFT" ? x * power_of_2 : divide_integers(x, power_of_2)};
}

/// The result has the base's dtype; integers go through f64.
Tensor power(const Tensor& a, const Tensor& b) {
  if (is_floating(a.dtype())) return cast(pow(a, cast(b, promote(a.dtype(), f32))), a.dtype());
  return cast(round(pow(cast(a, f64), cast(b, f64))), a.dtype());
}

/// In f64 and back: functions put together from several would lose float32's last digits.
template <class F>
Tensor in_f64(const Tensor& x, F f) {
  return cast(f(cast(x, f64)), x.dtype());
}

Tensor clip(const Case& c) {
  Tensor y = c.in(0);
  const Tensor low = c.has("min") ? scalar(c.number("min", 0), y.dtype()) : c.optional(1);
  const Tensor high = c.has("max") ? scalar(c.number("max", 0), y.dtype()) : c.optional(2);
  if (low.defined()) y = maximum(y, low);
  if (high.defined()) y = minimum(y, high);
  return y;
}

void add_functions(Table& t) {
  t["Abs"] = unary<abs>;
  t["Neg"] = unary<neg>;
  t["Sign"] = unary<sign>;
  t["Floor"] = unary<floor>;
  t["Ceil"] = unary<ceil>;
  t["Round"] = unary<round>;
  t["Sqrt"] = unary<sqrt>;
  t["Reciprocal"] = unary<reciprocal>;
  t["Exp"] = unary<exp>;
  t["Log"] = unary<log>;
  t["Sin"] = unary<sin>;
  t["Cos"] = unary<cos>;
  t["Tanh"] = unary<tanh>;
  t["Erf"] = unary<erf>;
  t["Tan"] = [](const Case& c) -> Tensors {
    return {in_f64(c.in(0), [](const Tensor& x) { return sin(x) / cos(x); })};
  };
  t["Sinh"] = [](const Case& c) -> Tensors {
    return {in_f64(c.in(0), [](const Tensor& x) { return (expm1(x) - expm1(-x)) * 0.5; })};
  };
  t["Cosh"] = [](const Case& c) -> Tensors {
    return {in_f64(c.in(0), [](const Tensor& x) { return (exp(x) + exp(-x)) * 0.5; })};
  };
  t["Asinh"] = [](const Case& c) -> Tensors {
    return {in_f64(c.in(0), [](const Tensor& x) {  // sign·ln(|x| + sqrt(1 + x²))
      const Tensor a = abs(x), s = square(x);
      return sign(x) * log1p(a + s / (1 + sqrt(1 + s)));
    })};
  };
  t["Acosh"] = [](const Case& c) -> Tensors {
    return {in_f64(c.in(0), [](const Tensor& x) { return log(x + sqrt(square(x) - 1)); })};
  };
  t["Atanh"] = [](const Case& c) -> Tensors {
    return {in_f64(c.in(0), [](const Tensor& x) { return (log1p(x) - log1p(-x)) * 0.5; })};
  };
}

}  // namespace

void add_pointwise(Table& t) {
  t["Add"] = [](const Case& c) -> Tensors { return {c.in(0) + second_operand(c)}; };
  t["Sub"] = [](const Case& c) -> Tensors { return {c.in(0) - second_operand(c)}; };
  t["Mul"] = [](const Case& c) -> Tensors { return {c.in(0) * second_operand(c)}; };
  t["Div"] = [](const Case& c) -> Tensors { return {divide(c.in(0), second_operand(c))}; };
  t["Pow"] = [](const Case& c) -> Tensors { return {power(c.in(0), second_operand(c))}; };
  t["Mod"] = [](const Case& c) -> Tensors {
    return {mod(c.in(0), c.in(1), c.flag("fmod", false))};
  };
  t["BitShift"] = bit_shift;
  t["Max"] = [](const Case& c) -> Tensors { return {fold(c, static_cast<Binary>(maximum))}; };
  t["Min"] = [](const Case& c) -> Tensors { return {fold(c, static_cast<Binary>(minimum))}; };
  t["Sum"] = [](const Case& c) -> Tensors { return {fold(c, add)}; };
  t["Mean"] = [](const Case& c) -> Tensors {
    return {fold(c, add) / static_cast<double>(c.inputs())};
  };
  t["Clip"] = [](const Case& c) -> Tensors { return {clip(c)}; };
  add_functions(t);
}

}  // namespace ladon::golden
