#pragma once
// The logarithm of the Gamma function and its derivatives, elementwise, computed in double
// precision. Integers are converted to f32.

#include "ladon/core/tensor.h"

namespace ladon {

/// ln |Γ(x)|, ∞ at 0, −1, −2, ….
Tensor lgamma(const Tensor& x);
/// ψ = (ln Γ)', the gradient of lgamma. NaN at 0, −1, −2, ….
Tensor digamma(const Tensor& x);
/// The n-th derivative of ψ: polygamma(0, x) = digamma(x), and the gradient of polygamma(n, x) is
/// polygamma(n + 1, x). Throws Error unless 0 ≤ n ≤ 20, in the gradient too. At x = 0, −1, −2, … it
/// is ∞ for odd n, and NaN for even n, whose one-sided limits differ in sign.
Tensor polygamma(int n, const Tensor& x);

}  // namespace ladon
