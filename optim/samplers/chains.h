#pragma once
// Chains that samplers return, and the figures that tell whether to believe them.
//
//   const Chains chains = nuts(density, start, {}, rng);
//   amax(split_rhat(chains)).item();                     // below 1.01?
//   const Measured first = chain_mean(select(chains.draws, 2, 0));  // with a standard error

#include <cstdint>
#include <vector>

#include "ladon/core/measured.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// Draws of several chains, and what they took.
struct Chains {
  Tensor draws;                    ///< f64 [C, S, D]: chains, draws, numbers.
  Tensor log_density;              ///< f64 [C, S]: ln p there, as the LogDensity gives it.
  std::vector<double> acceptance;  ///< [C]: mean probability of acceptance, after warm-up.
  std::int64_t gradients = 0;      ///< Rows scored in all, warm-up included: the cost.
  /// Trajectories after warm-up whose energy rose by more than 1000 or was not finite: the density
  /// bends too sharply for the step somewhere, and draws are missing there.
  std::int64_t divergences = 0;
  double step = 0;      ///< The leapfrog step ε after warm-up.
  Tensor inverse_mass;  ///< f64 [D]: the diagonal of M⁻¹, near the variances of θ.
};

// Diagnostics of draws [C, S, D], or [C, S] of one number, of any floating dtype. All halve every
// chain and compare the 2C halves (of an odd S the middle draw is left out), so one chain will do.
// The result is f64 [D], or of rank 0. NaN: fewer than 4 draws, a draw that is not finite, or all
// draws equal. Throw Error for another rank, and where C or D is 0.

/// On what scale draws are compared.
enum class ChainScale {
  /// Φ⁻¹((r − 3/8)/(n + 1/4)) for the draw of rank r among all n; equal draws share the mean rank.
  /// It exists for every distribution, heavy tails included (Vehtari et al. 2021).
  ranks,
  values,  ///< The draws themselves.
};

/// R̂ = √(var⁺/W),  var⁺ = (N−1)/N·W + B,  W the mean variance within a half of N draws and B the
/// variance of the halves' means (Gelman and Rubin 1992; Vehtari, Gelman, Simpson, Carpenter and
/// Bürkner 2021, arXiv 1903.08008). Near 1 where chains agree; they ask for less than 1.01. On
/// ranks it is the larger of two: that of the draws, and that of |draw − median|, which sees chains
/// that differ in spread. +∞ where each half stands still at a place of its own.
Tensor split_rhat(const Tensor& draws, ChainScale scale = ChainScale::ranks);

/// Number of independent draws that would tell the mean as well:  n/τ,  τ = 1 + 2 Σ_t ρ_t,  with
/// ρ_t the autocorrelation over all halves, whose sums over pairs ρ_2k + ρ_2k+1 are taken while
/// they are positive, and made to fall (Geyer 1992, initial monotone sequence). At most n·log₁₀ n.
/// On ranks it is the "bulk" effective sample size; on values, what the standard error of a mean
/// needs.
Tensor effective_sample_size(const Tensor& draws, ChainScale scale = ChainScale::ranks);

inline Tensor split_rhat(const Chains& chains) { return split_rhat(chains.draws); }
inline Tensor effective_sample_size(const Chains& chains) {
  return effective_sample_size(chains.draws);
}

/// Autocorrelation of each chain about its own mean, Σ_s (x_s − x̄)(x_s+t − x̄)/Σ_s (x_s − x̄)², at
/// lags t = 0 … lags:  [C, S, D] → f64 [C, lags + 1, D], or [C, S] → [C, lags + 1].  NaN for a
/// constant chain. Throws Error also unless 0 ≤ lags < S.
Tensor autocorrelation(const Tensor& draws, std::int64_t lags);

/// The mean of a number over all draws [C, S], and its Monte Carlo standard error: the draws'
/// standard deviation over √effective_sample_size(draws, values). The error is NaN where that is.
Measured chain_mean(const Tensor& draws);

}  // namespace ladon
