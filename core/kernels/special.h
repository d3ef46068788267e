#pragma once
// Functions around Γ, of one floating element each, computed in double precision.

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// ln |Γ(x)|; ∞ at 0, −1, −2, ….
Tensor lgamma(const Tensor& x);
/// ψ⁽ⁿ⁾, the n-th derivative of ψ = (ln Γ)'; 0 ≤ n ≤ max_polygamma. At 0, −1, −2, …
/// ∞ for odd n, and NaN for even ones, which have both signs there.
Tensor polygamma(int n, const Tensor& x);
inline constexpr int max_polygamma = 20;
double polygamma(int n, double x);

/// L = ln X of draws X ~ Gamma(alpha, 1): one for each of alpha, f64, alpha > 0 and finite. Element
/// i draws from rng.split(first).split(i), where `first` is the position of the one block that the
/// call reserves. Marsaglia and Tsang 2000; for alpha < 1 from alpha + 1 by X·U^(1/alpha), in
/// logarithms, so that nothing underflows.
Tensor log_gamma_draws(const Tensor& alpha, Generator& rng);
/// e^L, and e^L over the sum along the last axis (of size 1 at least), f64, with the same bits at
/// every instruction level and on every processor, which the loops for exp and softmax do not have.
Tensor exp_of_draws(const Tensor& draws);
Tensor softmax_of_draws(const Tensor& draws);
/// dL/dalpha where the value P(X ≤ e^L) stays (Figurnov et al. 2018), elementwise on f64.
Tensor log_gamma_slopes(const Tensor& draws, const Tensor& alpha);
double log_gamma_slope(double log_x, double alpha);

}  // namespace ladon::kernels
