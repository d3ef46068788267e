#pragma once
// Functions around Γ, elementwise, computed in double precision. Integers take part as f32.

#include "ladon/core/tensor.h"

namespace ladon {

/// ln |Γ(x)|, ∞ at 0, −1, −2, ….
Tensor lgamma(const Tensor& x);
/// ψ = (ln Γ)', the gradient of lgamma. NaN at 0, −1, −2, ….
Tensor digamma(const Tensor& x);
/// The n-th derivative of ψ, 0 ≤ n ≤ 20 (Error): polygamma(0, x) = digamma(x), and the gradient of
/// polygamma(n, x) is polygamma(n + 1, x) (an Error where that is beyond 20). At 0, −1, −2, … it is
/// ∞ for odd n, and NaN for even ones, which have both signs there.
Tensor polygamma(int n, const Tensor& x);

}  // namespace ladon
