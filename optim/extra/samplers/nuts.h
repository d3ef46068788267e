#pragma once
// No-U-turn sampler (Hoffman and Gelman 2014, arXiv 1111.4246): Hamiltonian Monte Carlo that
// chooses the length of each trajectory. Points are drawn with multinomial weights (Betancourt
// 2017, arXiv 1701.02434, appendix A).
//
//   const Chains chains = nuts(density, start, {.draws = 1000, .target_accept = 0.9}, rng);

#include <cstdint>
#include <functional>

#include "ladon/core/random.h"
#include "ladon/optim/samplers/chains.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon {

/// Options of nuts(), with the meaning that they have in HmcOptions, except max_depth, which
/// replaces `steps`.
struct NutsOptions {
  std::int64_t draws = 1000;
  std::int64_t warmup = 1000;
  std::int64_t thin = 1;
  int max_depth = 10;  ///< A trajectory has at most 2^max_depth − 1 leapfrog steps; 1 … 24.
  double step = 0;
  /// Target of the acceptance probability, averaged over a trajectory's points. Values closer to 1
  /// give a smaller ε. Must be 0.8 if ε is fixed by `step` (Error otherwise).
  double target_accept = 0.8;
  bool adapt_mass = true;
  std::function<void(std::int64_t done, std::int64_t of)> progress = {};
};

/// Runs chains; start, warm-up, the shared step size ε and mass matrix M, random numbers and Errors
/// are as in hmc(). A trajectory is doubled, forward or backward in time, until it or one of its
/// binary subtrees makes a U-turn: (θ_last − θ_first)·p ≤ 0 at either end. The draw is one of the
/// trajectory's points, chosen with weights e^−H (H is the energy, hamiltonian.h) and a bias
/// towards the last doubling.
/// If only whole trajectories and their halves were checked, a U-turn that begins in one half and
/// ends in the other could be missed; therefore each half is also checked together with the nearest
/// point of the other half. Chains advance together: each leapfrog step is one score() of the
/// chains whose trajectories still grow.
Chains nuts(const LogDensity& density, const Tensor& start, const NutsOptions& options,
            Generator& rng);

}  // namespace ladon
