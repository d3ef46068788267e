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
  Tensor draws;                    ///< f64 [C, S, D]: C chains of S draws in D dimensions.
  Tensor log_density;              ///< f64 [C, S]: ln p at the draws, up to the LogDensity's
                                   ///< constant.
  std::vector<double> acceptance;  ///< [C]: mean acceptance probability after warm-up.
  std::int64_t gradients = 0;      ///< Number of gradient evaluations of all chains together,
                                   ///< including warm-up.
  /// Number of divergent trajectories after warm-up: their energy rose by more than 1000 or was not
  /// finite. Then a region where the density curves too sharply for the step size is undersampled.
  std::int64_t divergences = 0;
  double step = 0;      ///< The leapfrog step size ε after warm-up.
  Tensor inverse_mass;  ///< f64 [D]: diagonal of the inverse mass matrix, about the variances of θ.
};

// split_rhat and effective_sample_size: diagnostics of draws [C, S, D], or [C, S] for a scalar
// quantity, of any floating dtype. Both split every chain into halves and compare the 2C halves
// (for an odd S the middle draw is left out), so a single chain is enough. The result is f64 [D],
// or of rank 0 for [C, S]. It is NaN if a chain has fewer than 4 draws, a draw is not finite, or
// all draws are equal. Both throw Error for any other rank, and if C or D is 0. Neither they nor
// autocorrelation() are differentiable: results have no gradient, and draws with a tangent of jvp,
// or inside vmap, throw Error.

/// Scale on which the diagnostics compare draws.
enum class ChainScale {
  /// Rank-normalized draws Φ⁻¹((r − 3/8)/(n + 1/4)), where r is a draw's rank among all n draws;
  /// equal draws share their mean rank. Defined for every distribution, including heavy tails
  /// (Vehtari et al. 2021).
  ranks,
  values,  ///< The draws themselves.
};

/// Potential scale reduction R̂ = √(var⁺/W),  var⁺ = (N−1)/N·W + B,  with W the mean variance
/// within the halves, of N draws each, and B the variance of the halves' means (Gelman and Rubin
/// 1992; Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021, arXiv 1903.08008). Near 1 if chains
/// agree; Vehtari et al. recommend less than 1.01. On ranks it is the larger of the R̂ of the draws
/// and the R̂ of |draw − median|, which detects chains of different spread. +∞ if every half is
/// constant, but not all at the same value.
Tensor split_rhat(const Tensor& draws, ChainScale scale = ChainScale::ranks);

/// Number of independent draws that would give the same standard error of the mean:  n/τ,  τ = 1 +
/// 2 Σ_t ρ_t, with n the number of draws in all halves and ρ_t their autocorrelation at lag t.
/// Pairs ρ_2k + ρ_2k+1 are summed while they are positive, and made monotonically decreasing (Geyer
/// 1992, initial monotone sequence). At most n·log₁₀ n. On ranks this is the "bulk" effective
/// sample size; use `values` for the standard error of a mean.
Tensor effective_sample_size(const Tensor& draws, ChainScale scale = ChainScale::ranks);

inline Tensor split_rhat(const Chains& chains) { return split_rhat(chains.draws); }
inline Tensor effective_sample_size(const Chains& chains) {
  return effective_sample_size(chains.draws);
}

/// Autocorrelation of each chain x about its mean x̄, Σ_s (x_s − x̄)(x_s+t − x̄)/Σ_s (x_s − x̄)²,
/// at lags t = 0 … lags:  [C, S, D] → f64 [C, lags + 1, D], or [C, S] → [C, lags + 1].  NaN for a
/// constant chain. Throws Error for draws of any other rank, and unless 0 ≤ lags < S.
Tensor autocorrelation(const Tensor& draws, std::int64_t lags);

/// Mean of a scalar quantity over all draws [C, S], and its Monte Carlo standard error: the
/// standard deviation of the draws divided by √effective_sample_size(draws, ChainScale::values).
/// The standard error is NaN if the effective sample size is NaN.
Measured chain_mean(const Tensor& draws);

}  // namespace ladon
