#pragma once
// The no-U-turn sampler (Hoffman and Gelman 2014, arXiv 1111.4246), which finds the length of each
// trajectory, with multinomial weights (Betancourt 2017, arXiv 1701.02434, appendix A).
//
//   const Chains chains = nuts(density, start, {.draws = 1000, .target_accept = 0.9}, rng);

#include <cstdint>
#include <functional>

#include "ladon/core/random.h"
#include "ladon/optim/samplers/chains.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon {

/// Options of nuts(), as in HmcOptions, with max_depth in place of `steps`.
struct NutsOptions {
  std::int64_t draws = 1000;
  std::int64_t warmup = 1000;
  std::int64_t thin = 1;
  int max_depth = 10;  ///< A trajectory has at most 2^max_depth − 1 leapfrog steps; 1 … 24.
  double step = 0;
  /// Acceptance is averaged over the points of a trajectory. Nearer to 1: a smaller ε.
  double target_accept = 0.8;
  bool adapt_mass = true;
  std::function<void(std::int64_t done, std::int64_t of)> progress = {};
};

/// Chains with start, warm-up, shared ε and M, random numbers and Errors as in hmc(). A trajectory
/// doubles, forwards or backwards in time, until it or one of its binary subtrees turns back:
/// (θ_last − θ_first)·p ≤ 0 at either end. The draw is one of its points, chosen by e^−H with a
/// bias towards the last doubling. Two halves of less than half a turn may just miss that the whole
/// has turned around once, so each half is also judged with the nearest point of the other. Chains
/// draw together: each step is one score() of the chains whose trajectories still grow.
Chains nuts(const LogDensity& density, const Tensor& start, const NutsOptions& options,
            Generator& rng);

}  // namespace ladon
