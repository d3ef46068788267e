#pragma once
// Elementwise functions around Γ, computed in double precision.

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// ln |Γ(x)|; ∞ at 0, −1, −2, ….
Tensor lgamma(const Tensor& x);
/// ψ⁽ⁿ⁾, the n-th derivative of ψ = (ln Γ)'; 0 ≤ n ≤ max_polygamma. At 0, −1, −2, … it is ∞ for odd
/// n, and NaN for even n, where its sign changes.
Tensor polygamma(int n, const Tensor& x);
inline constexpr int max_polygamma = 20;
double polygamma(int n, double x);

/// L = ln X of draws X ~ Gamma(alpha, 1), one per element of alpha, f64, alpha > 0 and finite.
/// Element i draws from rng.split(first).split(i), where `first` is the position of the one block
/// that the call reserves. Marsaglia and Tsang 2000; for alpha < 1 as X·U^(1/alpha) with X ~
/// Gamma(alpha + 1, 1), in logarithms, so that nothing underflows.
Tensor log_gamma_draws(const Tensor& alpha, Generator& rng);
/// e^L, and e^L divided by its sum along the last axis (of size 1 at least), f64. Unlike the loops
/// for exp and softmax, they have the same bits at every instruction level and on every processor.
Tensor exp_of_draws(const Tensor& draws);
Tensor softmax_of_draws(const Tensor& draws);
/// dL/dalpha at a fixed value of P(X ≤ e^L) (Figurnov et al. 2018), elementwise on f64.
Tensor log_gamma_slopes(const Tensor& draws, const Tensor& alpha);
double log_gamma_slope(double log_x, double alpha);

}  // namespace ladon::kernels
