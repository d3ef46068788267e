#pragma once
// Sequential Monte Carlo over temperatures (Neal 2001; Del Moral, Doucet and Jasra 2006): draws
// from a posterior with a normal prior, and its evidence, also if there are several modes.
//
// Particles start as draws from the prior, β = 0. Each stage raises β as far as the weights L^Δβ
// keep the fraction `keep` of the effective number of particles, resamples particles by their
// weights, and moves them by elliptical slice sampling; at β = 1 they are draws from the posterior.
// The product of the mean weights estimates the evidence ∫ N(z; 0, 1)·L(z) dz: consistently for P →
// ∞ if the steps of β were chosen from the same weights (Beskos, Jasra, Kantas and Thiery 2016),
// and without bias at any P for a given sequence of β, such as that of a pilot run:
//   const SmcResult pilot = tempered_smc(dim, f, {.particles = 100}, rng);
//   tempered_smc(dim, f, {.particles = 100, .betas = pilot.betas}, rng).log_evidence;

#include <cstdint>
#include <functional>
#include <vector>

#include "ladon/optim/samplers/elliptical_slice.h"

namespace ladon {

struct SmcOptions {
  std::int64_t particles = 1000;  ///< P
  std::int64_t parts = 1;  ///< A sweep moves this many equal parts of a row, one after the other.
  double keep = 0.6;       ///< Fraction of the effective number of particles kept per stage, in (0,
                           ///< 1).
  /// Increasing values of β, from above 0 to 1. Empty: chosen by `keep`.
  std::vector<double> betas = {};
  /// Number of sweeps at every β. If there are several modes, and few particles of the prior are
  /// near some of them, replicates with too few sweeps agree with each other but are all wrong:
  /// compare with twice as many.
  std::int64_t sweeps = 4;
  std::int64_t recorded = 10;  ///< Number of sweeps at β = 1; `record` is called after each.
};

struct SmcResult {
  double log_evidence = 0;
  EllipticalState state;      ///< At β = 1, after all sweeps.
  std::vector<double> betas;  ///< The values of β used, one per stage.
  std::int64_t judged = 0;    ///< Number of rows whose likelihood was evaluated.
};

/// `record` is called with the particles after each sweep at β = 1; it may be empty. Advances rng
/// by one block. Throws Error for options out of range, betas that do not increase to 1, a
/// dimension that is not a multiple of `parts`, if all particles are impossible, and if β does not
/// reach 1 in 1,000 stages.
SmcResult tempered_smc(std::int64_t dim, const LogLikelihood& f, const SmcOptions& options,
                       Generator& rng,
                       const std::function<void(const EllipticalState&)>& record = {});

}  // namespace ladon
