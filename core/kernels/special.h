#pragma once
// Elementwise functions that are related to Γ, computed in double precision.

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// ln |Γ(x)|; ∞ at 0, −1, −2, ….
Tensor lgamma(const Tensor& x);
/// ψ⁽ⁿ⁾, the n-th derivative of ψ = (ln Γ)'; 0 ≤ n ≤ max_polygamma. At 0, −1, −2, … it is ∞ for odd
/// n, and NaN for even n, because its sign changes there.
Tensor polygamma(int n, const Tensor& x);
inline constexpr int max_polygamma = 20;
double polygamma(int n, double x);

/// L = ln X for draws X ~ Gamma(alpha, 1), one per element of alpha; alpha is f64, > 0 and finite.
/// Element i draws from rng.split(first).split(i), where `first` is the position of the one block
/// that the call reserves. The method is that of Marsaglia and Tsang (2000). For alpha < 1 the draw
/// is X·U^(1/alpha) with X ~ Gamma(alpha + 1, 1) and U uniform in (0, 1]; it is computed in
/// logarithms, so that nothing underflows.
Tensor log_gamma_draws(const Tensor& alpha, Generator& rng);
/// exp and softmax (along the last axis, of size at least 1) of the draws L, in f64. Unlike the
/// loops for exp and softmax, they give the same bits at every instruction level and on every
/// processor.
Tensor exp_of_draws(const Tensor& draws);
Tensor softmax_of_draws(const Tensor& draws);
/// dL/dalpha of the draws L = ln X at a fixed value of the distribution function P(X ≤ e^L),
/// elementwise on f64 (implicit reparameterization, Figurnov et al. 2018).
Tensor log_gamma_slopes(const Tensor& draws, const Tensor& alpha);
double log_gamma_slope(double log_x, double alpha);

}  // namespace ladon::kernels
