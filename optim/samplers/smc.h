#pragma once
// Sequential Monte Carlo over temperatures (Neal 2001; Del Moral, Doucet and Jasra 2006): draws
// from a posterior with a normal prior, and its evidence, also if there are several modes.
//
// P particles z represent the density ∝ N(z; 0, I)·L(z)^β with likelihood L. They start at β = 0 as
// draws from the prior. Each stage raises β by the largest Δβ at which the weights L^Δβ have an
// effective sample size of at least keep·P, resamples particles by their weights, and moves them by
// elliptical slice sampling; at β = 1 they are draws from the posterior. The product of the stages'
// mean weights estimates the evidence ∫ N(z; 0, I)·L(z) dz. If the same weights also choose Δβ, the
// estimate is consistent for P → ∞ (Beskos, Jasra, Kantas and Thiery 2016); for a given sequence of
// β, such as that of a pilot run, it is unbiased at any P:
//   const SmcResult pilot = tempered_smc(dim, f, {.particles = 100}, rng);
//   tempered_smc(dim, f, {.particles = 100, .betas = pilot.betas}, rng).log_evidence;
// If the pilot run sets `keep`, reset it to its default for the second run, which takes its betas
// as given and throws Error for a `keep` that would have no effect.

#include <cstdint>
#include <functional>
#include <vector>

#include "ladon/optim/samplers/elliptical_slice.h"

namespace ladon {

struct SmcOptions {
  std::int64_t particles = 1000;  ///< P, number of particles.
  std::int64_t parts = 1;         ///< A sweep updates `parts` equal parts of a row in turn.
  double keep = 0.6;  ///< Effective sample size of a stage's weights, as a fraction of P in (0, 1).
  /// Increasing values of β, from above 0 to 1. If empty, they are chosen by `keep`; otherwise
  /// `keep` must have its default (Error).
  std::vector<double> betas = {};
  /// Number of sweeps of elliptical slice sampling at every β. If there are several modes and the
  /// prior puts few particles near some of them, replicates with too few sweeps agree with each
  /// other but are all wrong: compare with twice as many sweeps.
  std::int64_t sweeps = 4;
  std::int64_t recorded = 10;  ///< Number of sweeps at β = 1; `record` is called after each.
};

struct SmcResult {
  double log_evidence = 0;
  EllipticalState state;      ///< The particles at β = 1, after all sweeps.
  std::vector<double> betas;  ///< The values of β used, one per stage.
  std::int64_t judged = 0;    ///< Number of rows whose likelihood was evaluated.
};

/// Runs sequential Monte Carlo in `dim` dimensions with log likelihood `f`. `record` is called with
/// the particles after each sweep at β = 1; it may be empty. Advances rng by one block
/// (core/random.h). Throws Error for options out of range, for betas that do not increase to 1, for
/// a dimension that is not a multiple of `parts`, if the likelihood of all particles is 0, and if β
/// does not reach 1 in 1,000 stages.
SmcResult tempered_smc(std::int64_t dim, const LogLikelihood& f, const SmcOptions& options,
                       Generator& rng,
                       const std::function<void(const EllipticalState&)>& record = {});

}  // namespace ladon
