#pragma once
// Comparisons, logic and selection. Comparisons return bool tensors and have no gradient.

#include "ladon/core/tensor.h"

namespace ladon {

Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);
Tensor equal(const Tensor& x, double s);
Tensor not_equal(const Tensor& x, double s);
Tensor less(const Tensor& x, double s);
Tensor less_equal(const Tensor& x, double s);
Tensor greater(const Tensor& x, double s);
Tensor greater_equal(const Tensor& x, double s);

/// Comparisons as operators, one bool per element. There is no == and no !=, because equality of
/// two tensors has three meanings: `equal`, `all_equal` and `same_elements`.
Tensor operator<(const Tensor& a, const Tensor& b);
Tensor operator<=(const Tensor& a, const Tensor& b);
Tensor operator>(const Tensor& a, const Tensor& b);
Tensor operator>=(const Tensor& a, const Tensor& b);
Tensor operator<(const Tensor& x, double s);
Tensor operator<=(const Tensor& x, double s);
Tensor operator>(const Tensor& x, double s);
Tensor operator>=(const Tensor& x, double s);
Tensor operator<(double s, const Tensor& x);
Tensor operator<=(double s, const Tensor& x);
Tensor operator>(double s, const Tensor& x);
Tensor operator>=(double s, const Tensor& x);

/// Logic of bool tensors, elementwise with broadcasting. Throws Error for other dtypes.
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& x);

Tensor isnan(const Tensor& x);
Tensor isfinite(const Tensor& x);

/// Elementwise condition ? a : b, with broadcasting of all three; `condition` is bool.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
/// where() with a number s, which is converted to the dtype of x. Throws Error if x holds integers
/// and s is not an integer.
Tensor where(const Tensor& condition, const Tensor& x, double s);
Tensor where(const Tensor& condition, double s, const Tensor& x);

/// x with `value` where mask is true; mask (bool) broadcasts to x's shape.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);

/// Whether all elements of a and b are equal (all_equal), or differ by at most atol + rtol·|b|
/// (all_close). False if the shapes differ. NaN equals nothing.
bool all_equal(const Tensor& a, const Tensor& b);
bool all_close(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8);

}  // namespace ladon
