#pragma once
// Chains returned by samplers, and convergence diagnostics.
//
//   const Chains chains = nuts(density, start, {}, rng);
//   amax(split_rhat(chains)).item();                     // below 1.01?
//   const Measured first = chain_mean(select(chains.draws, 2, 0));  // with a standard error

#include <cstdint>
#include <vector>

#include "ladon/core/measured.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// Draws of several chains, and the cost of computing them.
struct Chains {
  Tensor draws;                    ///< f64 [C, S, D]: chains, draws, dimensions.
  Tensor log_density;              ///< f64 [C, S]: ln p at the draws, up to the LogDensity's
                                   ///< constant.
  std::vector<double> acceptance;  ///< [C]: mean acceptance probability after warm-up.
  std::int64_t gradients = 0;      ///< Total number of rows scored, including warm-up.
  /// Trajectories after warm-up whose energy rose by more than 1000 or was not finite: the density
  /// somewhere curves too sharply for the step size, and that region is undersampled.
  std::int64_t divergences = 0;
  double step = 0;      ///< The leapfrog step ε after warm-up.
  Tensor inverse_mass;  ///< f64 [D]: the diagonal of M⁻¹, approximately the variances of θ.
};

// Diagnostics of draws [C, S, D], or [C, S] for a scalar, of any floating dtype. All split every
// chain into halves and compare the 2C halves (for an odd S the middle draw is left out), so a
// single chain is enough. The result is f64 [D], or of rank 0. NaN if there are fewer than 4 draws,
// a draw is not finite, or all draws are equal. Throw Error for another rank, and if C or D is 0.

/// Scale on which draws are compared.
enum class ChainScale {
  /// Φ⁻¹((r − 3/8)/(n + 1/4)) for the draw of rank r among all n; equal draws share the mean rank.
  /// Defined for every distribution, including heavy tails (Vehtari et al. 2021).
  ranks,
  values,  ///< The draws themselves.
};

/// R̂ = √(var⁺/W),  var⁺ = (N−1)/N·W + B,  W the mean variance within a half of N draws and B the
/// variance of the halves' means (Gelman and Rubin 1992; Vehtari, Gelman, Simpson, Carpenter and
/// Bürkner 2021, arXiv 1903.08008). Near 1 if chains agree; the latter recommend less than 1.01. On
/// ranks it is the larger of two: that of the draws, and that of |draw − median|, which detects
/// chains of different spread. +∞ if every half is constant, at different values.
Tensor split_rhat(const Tensor& draws, ChainScale scale = ChainScale::ranks);

/// Number of independent draws with the same standard error of the mean:  n/τ,  τ = 1 + 2 Σ_t ρ_t,
/// with ρ_t the autocorrelation over all halves; the sums ρ_2k + ρ_2k+1 are used while positive,
/// and made monotonically decreasing (Geyer 1992, initial monotone sequence). At most n·log₁₀ n. On
/// ranks it is the "bulk" effective sample size; on values it gives the standard error of a mean.
Tensor effective_sample_size(const Tensor& draws, ChainScale scale = ChainScale::ranks);

inline Tensor split_rhat(const Chains& chains) { return split_rhat(chains.draws); }
inline Tensor effective_sample_size(const Chains& chains) {
  return effective_sample_size(chains.draws);
}

/// Autocorrelation of each chain about its mean, Σ_s (x_s − x̄)(x_s+t − x̄)/Σ_s (x_s − x̄)², at
/// lags t = 0 … lags:  [C, S, D] → f64 [C, lags + 1, D], or [C, S] → [C, lags + 1].  NaN for a
/// constant chain. Throws Error also unless 0 ≤ lags < S.
Tensor autocorrelation(const Tensor& draws, std::int64_t lags);

/// The mean of a scalar over all draws [C, S], and its Monte Carlo standard error: the draws'
/// standard deviation over √effective_sample_size(draws, values). The error is NaN if that is.
Measured chain_mean(const Tensor& draws);

}  // namespace ladon
