#pragma once
// Sequential Monte Carlo over temperatures (Neal 2001; Del Moral, Doucet and Jasra 2006): draws
// from a posterior under a normal prior, and its evidence, also where there are several modes.
//
// Particles begin as draws from the prior, β = 0. Each stage raises β as far as the weights L^Δβ
// leave the share `keep` of the effective number of particles, draws particles anew by their
// weights, and moves them by elliptical slice sampling; at β = 1 they are draws from the posterior.
// The product of the mean weights estimates the evidence ∫ N(z; 0, 1)·L(z) dz: consistently, as P
// grows, where the same weights have chosen the steps of β (Beskos, Jasra, Kantas and Thiery 2016),
// and without bias at any P on a given ladder, such as that of a run before:
//   const SmcResult pilot = tempered_smc(dim, f, {.particles = 100}, rng);
//   tempered_smc(dim, f, {.particles = 100, .betas = pilot.betas}, rng).log_evidence;

#include <cstdint>
#include <functional>
#include <vector>

#include "ladon/optim/samplers/elliptical_slice.h"

namespace ladon {

struct SmcOptions {
  std::int64_t particles = 1000;  ///< P
  std::int64_t parts = 1;  ///< A sweep moves that many equal parts of a row, one after the other.
  double keep = 0.6;       ///< In (0, 1).
  /// The ladder: rising from above 0 to 1. Empty: chosen by `keep`.
  std::vector<double> betas = {};
  /// At every β. Where there are several peaks, and few particles of the prior are near some of
  /// them, replicates with too few sweeps agree and are all wrong: compare with twice as many.
  std::int64_t sweeps = 4;
  std::int64_t recorded = 10;  ///< Sweeps at β = 1, after each of which `record` is called.
};

struct SmcResult {
  double log_evidence = 0;
  EllipticalState state;      ///< At β = 1, after all sweeps.
  std::vector<double> betas;  ///< The ladder that was taken, a stage each.
  std::int64_t judged = 0;    ///< Rows whose likelihood was computed.
};

/// `record` sees the particles after each sweep at β = 1; may be empty. Advances rng by one block.
/// Throws Error for options out of range, a ladder that is none, a dimension that is no multiple of
/// `parts`, where all particles are impossible, and where β does not come to 1 in 1,000 stages.
SmcResult tempered_smc(std::int64_t dim, const LogLikelihood& f, const SmcOptions& options,
                       Generator& rng,
                       const std::function<void(const EllipticalState&)>& record = {});

}  // namespace ladon
