#pragma once
// The Gamma function's logarithm and its derivatives, elementwise, computed in double precision.
// Integers are converted to f32.

#include "ladon/core/tensor.h"

namespace ladon {

/// ln |Γ(x)|, ∞ at 0, −1, −2, ….
Tensor lgamma(const Tensor& x);
/// ψ = (ln Γ)', the gradient of lgamma. NaN at 0, −1, −2, ….
Tensor digamma(const Tensor& x);
/// The n-th derivative of ψ, 0 ≤ n ≤ 20 (else Error): polygamma(0, x) = digamma(x), and the
/// gradient of polygamma(n, x) is polygamma(n + 1, x) (Error if n + 1 > 20). At 0, −1, −2, … it is
/// ∞ for odd n, and NaN for even n, where the one-sided limits differ in sign.
Tensor polygamma(int n, const Tensor& x);

}  // namespace ladon
