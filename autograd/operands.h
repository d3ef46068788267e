#pragma once
// Checks of operands, and their promotion to a common dtype. Gradient rules need not undo the
// promotion or broadcasting: the backward pass casts and sums gradients back (record.h).

#include <cmath>
#include <initializer_list>
#include <string_view>

#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// Throws Error if an operand is an undefined tensor.
inline void check_defined(std::string_view operation,
                          std::initializer_list<detail::Input> operands) {
  for (const detail::Input& x : operands)
    LADON_CHECK(x.tensor->defined(), operation, "operand ", &x - operands.begin() + 1, " of ",
                operands.size(),
                " is undefined; was its module moved from, or an optional tensor not set?");
}

/// Throws Error unless x is defined and floating.
inline void check_floating(const char* operation, const Tensor& x) {
  check_defined(operation, {x});
  LADON_CHECK(is_floating(x.dtype()), operation, "needs a floating-point tensor, got ", x.dtype(),
              "; convert it with cast(x, f32)");
}

/// Throws Error unless x is defined and boolean.
inline void check_boolean(const char* operation, const Tensor& x) {
  check_defined(operation, {x});
  LADON_CHECK(x.dtype() == boolean, operation, "needs a bool tensor, got ", x.dtype());
}

/// Throws Error unless s is positive, and still positive when rounded to `dtype`, in which it is
/// used.
inline void check_positive(const char* operation, const char* what, double s, DType dtype,
                           const char* hint = "") {
  LADON_CHECK(s > 0, operation, what, " is ", s, "; it must be positive", hint);
  LADON_CHECK(dtype != f32 || static_cast<float>(s) > 0, operation, what, " is ", s,
              ", which f32 rounds to 0; it must be positive: pass at least 1e-45, or f64 tensors");
}

/// Returns f(a, b) with a and b converted to the largest of three dtypes: theirs and `least`.
/// Throws Error if a or b is undefined or if their shapes do not broadcast.
template <class F>
Tensor in_common_dtype(const char* operation, const Tensor& a, const Tensor& b, DType least, F f) {
  check_defined(operation, {a, b});
  if (!(a.shape() == b.shape())) broadcast_shapes(operation, a.shape(), b.shape());
  const DType t = promote(promote(a.dtype(), b.dtype()), least);
  if (a.dtype() == t && b.dtype() == t) return f(a, b);
  return f(kernels::cast(a, t), kernels::cast(b, t));
}

/// Returns f(x) with x converted to the larger of its dtype and `least`.
template <class F>
Tensor in_common_dtype(const char* operation, const Tensor& x, DType least, F f) {
  check_defined(operation, {x});
  const DType t = promote(x.dtype(), least);
  return x.dtype() == t ? f(x) : f(kernels::cast(x, t));
}

/// Throws Error if x is an integer tensor and s is not an integer below 2⁶³ in magnitude.
inline void check_number(const char* operation, const Tensor& x, double s) {
  if (x.defined() && is_whole(x.dtype()))
    LADON_CHECK(std::floor(s) == s && std::abs(s) < 0x1p63, operation, "the number ", s,
                " is not an integer, but the tensor is ", x.dtype(),
                "; convert it with cast(x, f32)");
}

}  // namespace ladon
