#pragma once
// Operations that consist of one elementwise kernel and take its name. For authors of operations
// (record.h); users call ops/pointwise.h.

#include <utility>

#include "ladon/autograd/operands.h"
#include "ladon/autograd/record.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {

/// y = op(x). Integers are converted to f32 where the kernel has no integer loop. rule(g), or
/// rule(g, y), returns the gradient of x, given the gradient g of y (as for record()).
///
///   Tensor sqrt(const Tensor& x) {
///     return elementwise(Unary::sqrt, x, [](auto& g, auto& y) { return 0.5 * g / y; });
///   }
template <class Rule>
Tensor elementwise(kernels::Unary op, const Tensor& x, Rule rule) {
  const char* name = to_string(op);
  const auto compute = [op](const Tensor& a) { return kernels::unary(op, a); };
  return record(name, in_common_dtype(name, x, least_dtype(op), compute), {x},
                symmetric(std::move(rule)));
}

/// y = op(a, b) with broadcasting; by_a and by_b are the gradient rules of the two operands.
template <class RuleA, class RuleB>
Tensor elementwise(kernels::Binary op, const Tensor& a, const Tensor& b, RuleA by_a, RuleB by_b) {
  const char* name = to_string(op);
  const auto compute = [op](const Tensor& u, const Tensor& v) { return kernels::binary(op, u, v); };
  return record(name, in_common_dtype(name, a, b, least_dtype(op), compute), {a, b},
                symmetric(std::move(by_a)), symmetric(std::move(by_b)));
}

/// y = op(x, s) for a number s, which has no gradient.
template <class Rule>
Tensor elementwise(kernels::Binary op, const Tensor& x, double s, Rule rule) {
  const char* name = to_string(op);
  const auto compute = [op, s](const Tensor& a) { return kernels::binary(op, a, s); };
  return record(name, in_common_dtype(name, x, least_dtype(op), compute), {x},
                symmetric(std::move(rule)));
}

/// y = op(s, x) for a number s, which has no gradient.
template <class Rule>
Tensor elementwise(kernels::Binary op, double s, const Tensor& x, Rule rule) {
  const char* name = to_string(op);
  const auto compute = [op, s](const Tensor& a) { return kernels::binary(op, s, a); };
  return record(name, in_common_dtype(name, x, least_dtype(op), compute), {x},
                symmetric(std::move(rule)));
}

}  // namespace ladon
