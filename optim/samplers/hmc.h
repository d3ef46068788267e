#pragma once
// Hamiltonian Monte Carlo (Duane et al. 1987; Neal 2011, arXiv 1206.1901).
//
//   const Chains chains = hmc(density, start, {.draws = 2000, .steps = 10}, rng);

#include <cstdint>
#include <functional>

#include "ladon/core/random.h"
#include "ladon/optim/samplers/chains.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon {

struct HmcOptions {
  std::int64_t draws = 1000;   ///< S: number of draws kept per chain.
  std::int64_t warmup = 1000;  ///< Number of warm-up draws, which are discarded.
  std::int64_t thin = 1;       ///< Thinning: one draw in `thin` is kept.
  /// Mean number of leapfrog steps per draw. The number is uniform on 1 … 2·steps − 1, because
  /// trajectories of a fixed length could return to their start (Hoffman, Radul and Sountsov 2021).
  std::int64_t steps = 10;
  double step = 0;             ///< Step size ε. If > 0, it is fixed, and warm-up adapts nothing;
                               ///< 0 means that it is adapted during warm-up.
  double target_accept = 0.8;  ///< Target of the mean acceptance probability, to which ε is
                               ///< adapted; must be 0.8 if ε is fixed (Error otherwise).
  bool adapt_mass = true;  ///< Whether to set the inverse mass matrix M⁻¹ to the draws' variances;
                           ///< otherwise M is the identity.
  /// Called after each draw with the number of draws done and the total; may throw, which ends the
  /// run.
  std::function<void(std::int64_t done, std::int64_t of)> progress = {};
};

/// Runs C chains that start at the rows of start [C, D] (any floating dtype). For each draw a
/// momentum p ~ N(0, M) is drawn and a trajectory of leapfrog steps computed, whose end is accepted
/// with probability min(1, e^(H − H′)), where H is the energy at its start and H′ at its end
/// (hamiltonian.h). This leaves p(θ) invariant for any ε. All chains move together, by one score()
/// of C rows per leapfrog step.
///
/// Warm-up adapts ε by dual averaging (Hoffman and Gelman 2014), and the diagonal mass matrix M to
/// the variances in three windows of draws (adaptation.h; with fewer than 20 draws of warm-up M
/// stays the identity). All chains share ε and M; if `step` is given, a chain does not depend on
/// the number of chains.
///
/// A proposal at which ln p or its gradient is not finite is rejected. Draws depend only on `rng`
/// (one block of it is used, core/random.h), not on the number of threads; the density is called
/// from the calling thread only.
///
/// The density must treat rows independently. To check this, when rows 0 and 1 first differ, row 0
/// is also evaluated in a batch of copies of itself (not counted in `gradients`): if its ln p or
/// gradient changes, the density mixes chains.
///
/// Throws Error for settings out of range; if there is neither warm-up nor `step`; for a start of
/// another shape or where ln p or its gradient is not finite (naming the chain); if no suitable ε
/// is found (a flat density, or a wrong gradient); for a density that mixes chains; and if the
/// density throws. Warns on std::cerr if after warm-up the mean acceptance is less than half of
/// target_accept.
Chains hmc(const LogDensity& density, const Tensor& start, const HmcOptions& options,
           Generator& rng);

}  // namespace ladon
