#include "ladon/core/kernels/pointwise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/kernels/strided.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/core/mapped.h"

namespace ladon::kernels {
namespace {

constexpr const char* unary_names[] = {
    "neg",  "abs",       "sign",       "floor",         "ceil",       "round",         "square",
    "sqrt", "rsqrt",     "reciprocal", "exp",           "expm1",      "log",           "log1p",
    "sin",  "cos",       "tanh",       "erf",           "sigmoid",    "softplus",      "relu",
    "gelu", "gelu_tanh", "silu",       "sigmoid_slope", "normal_cdf", "gelu_tanh_gate"};
constexpr const char* binary_names[] = {"add",
                                        "sub",
                                        "mul",
                                        "div",
                                        "pow",
                                        "maximum",
                                        "minimum",
                                        "atan2",
                                        "remainder",
                                        "tanh_gradient",
                                        "sigmoid_gradient",
                                        "softplus_gradient",
                                        "relu_gradient",
                                        "gelu_gradient",
                                        "gelu_tanh_gradient",
                                        "silu_gradient",
                                        "gaussian"};
constexpr const char* compare_names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static_assert(std::size(unary_names) == std::size_t(Unary::count));
static_assert(std::size(binary_names) == std::size_t(Binary::count));
static_assert(std::size(compare_names) == std::size_t(Compare::count));

/// Returns the loop. Throws Error if it is null, which means that the function is not defined for
/// T.
template <class T, class Loop>
Loop need(std::string_view operation, Loop loop) {
  LADON_CHECK(loop != nullptr, operation, "is not defined for ", dtype_of<T>(),
              "; convert the operands with cast(x, f32)");
  return loop;
}

void check_same_dtype(std::string_view operation, const Tensor& a, const Tensor& b) {
  LADON_CHECK(a.dtype() == b.dtype(), operation, "dtypes differ: ", a.dtype(), " and ", b.dtype(),
              ", but must be the same; convert an operand with cast");
}

/// s as an element of type T.
template <class T>
T to_element(std::string_view operation, double s) {
  LADON_CHECK(holds(dtype_of<T>(), s), operation, "the number ", s, " is not representable as ",
              dtype_of<T>(), "; convert the tensor with cast(x, f64) first");
  return static_cast<T>(s);
}

/// f(x, s), or f(s, x) if `flipped`.
template <class T, class Y, class Loop>
Tensor with_number(const Tensor& x, T s, DType result, bool flipped, Loop loop) {
  const Tensor dense = contiguous(x);
  Tensor y = empty(x.shape(), result);
  const T* in = dense.data<T>();
  Y* out = y.mutable_data<Y>();
  for_flat(x.count(), [=](std::int64_t begin, std::int64_t end) {
    alignas(64) T number[piece_length];
    std::fill_n(number, std::min(end - begin, piece_length), s);
    for (std::int64_t i = begin; i < end; i += piece_length) {
      const T* at = in + i;
      loop(flipped ? number : at, flipped ? at : number, out + i, std::min(end - i, piece_length));
    }
  });
  return y;
}

/// Throws Error unless `fits`, which says that no element of the right operand is 0 (remainder of
/// integers) or negative (power of integers).
void check_right(Binary op, bool fits) {
  LADON_CHECK(fits || op == Binary::pow, "remainder",
              "integer division by zero: an integer divisor must not be 0");
  LADON_CHECK(
      fits, "pow",
      "an integer to a negative power is not an integer; convert the base with cast(x, f32)");
}

void check_right(Binary op, const Tensor& right) {
  if (right.dtype() != i64 || (op != Binary::remainder && op != Binary::pow)) return;
  std::vector<int> axes(right.rank());
  std::iota(axes.begin(), axes.end(), 0);
  const Tensor fits = compare(op == Binary::pow ? Compare::ge : Compare::ne, right, 0);
  check_right(op, reduce(Reduce::all, fits, axes, false).item<bool>());
}

Tensor binary_number(Binary op, const Tensor& x, double s, bool flipped) {
  return visit_dtype(x.dtype(), [&]<class T>() {
    const auto loop = need<T>(to_string(op), loops().of<T>().binary[int(op)]);
    return with_number<T, T>(x, to_element<T>(to_string(op), s), x.dtype(), flipped, loop);
  });
}

}  // namespace

const char* to_string(Unary op) { return unary_names[int(op)]; }
const char* to_string(Binary op) { return binary_names[int(op)]; }
const char* to_string(Compare op) { return compare_names[int(op)]; }
DType least_dtype(Unary op) { return loops().i64.unary[int(op)] ? i64 : f32; }
DType least_dtype(Binary op) { return loops().i64.binary[int(op)] ? i64 : f32; }

Tensor unary(Unary op, const Tensor& x) {
  if (x.mapped()) return mapped::broadcast([=](const Tensor& u) { return unary(op, u); }, x);
  Tensor y = empty_like(x);
  visit_dtype(x.dtype(), [&]<class T>() {
    map<T, T>(y, need<T>(to_string(op), loops().of<T>().unary[int(op)]), x);
  });
  return y;
}

Tensor binary(Binary op, const Tensor& a, const Tensor& b) {
  if (mapped::any(a, b))
    return mapped::broadcast([=](const Tensor& u, const Tensor& v) { return binary(op, u, v); }, a,
                             b);
  check_same_dtype(to_string(op), a, b);
  Tensor y = empty(broadcast_shapes(to_string(op), a.shape(), b.shape()), a.dtype());
  check_right(op, b);
  visit_dtype(a.dtype(), [&]<class T>() {
    map<T, T, T>(y, need<T>(to_string(op), loops().of<T>().binary[int(op)]), a, b);
  });
  return y;
}

Tensor binary(Binary op, const Tensor& x, double s) {
  if (x.mapped()) return mapped::broadcast([=](const Tensor& u) { return binary(op, u, s); }, x);
  if (op == Binary::pow && s == 2 && is_floating(x.dtype())) return unary(Unary::square, x);
  if (op == Binary::pow && s == 3 && (x.dtype() == f32 || x.dtype() == f64))
    return binary(Binary::mul, unary(Unary::square, x), x);
  if (x.dtype() == i64 && op == Binary::remainder) check_right(op, s != 0);
  if (x.dtype() == i64 && op == Binary::pow) check_right(op, s >= 0);
  return binary_number(op, x, s, false);
}

Tensor binary(Binary op, double s, const Tensor& x) {
  if (x.mapped()) return mapped::broadcast([=](const Tensor& u) { return binary(op, s, u); }, x);
  check_right(op, x);
  return binary_number(op, x, s, true);
}

Tensor compare(Compare op, const Tensor& a, const Tensor& b) {
  if (mapped::any(a, b))
    return mapped::broadcast([=](const Tensor& u, const Tensor& v) { return compare(op, u, v); }, a,
                             b);
  check_same_dtype(to_string(op), a, b);
  Tensor y = empty(broadcast_shapes(to_string(op), a.shape(), b.shape()), boolean);
  visit_dtype(a.dtype(),
              [&]<class T>() { map<bool, T, T>(y, loops().of<T>().compare[int(op)], a, b); });
  return y;
}

Tensor compare(Compare op, const Tensor& x, double s) {
  if (x.mapped()) return mapped::broadcast([=](const Tensor& u) { return compare(op, u, s); }, x);
  return visit_dtype(x.dtype(), [&]<class T>() {
    const auto loop = loops().of<T>().compare[int(op)];
    return with_number<T, bool>(x, to_element<T>(to_string(op), s), boolean, false, loop);
  });
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  if (mapped::any(condition, a, b)) return mapped::broadcast(where, condition, a, b);
  LADON_CHECK(condition.dtype() == boolean, "where", "the condition is ", condition.dtype(),
              ", not bool; make it by a comparison, such as x > 0");
  check_same_dtype("where", a, b);
  const Shape sides = broadcast_shapes("where", a.shape(), b.shape());
  Tensor y = empty(broadcast_shapes("where", condition.shape(), sides), a.dtype());
  visit_dtype(a.dtype(),
              [&]<class T>() { map<T, bool, T, T>(y, loops().of<T>().select, condition, a, b); });
  return y;
}

}  // namespace ladon::kernels
