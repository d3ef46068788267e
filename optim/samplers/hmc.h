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
  std::int64_t warmup = 1000;  ///< Number of draws before the kept ones.
  std::int64_t thin = 1;       ///< One draw in this many is kept.
  /// Mean number of leapfrog steps per draw: each draw takes 1 … 2·steps − 1, all equally likely,
  /// since a fixed length could return a trajectory to its start (Hoffman, Radul and Sountsov
  /// 2021).
  std::int64_t steps = 10;
  double step = 0;             ///< ε. Above 0: fixed, and warm-up adapts nothing. 0: adapted.
  double target_accept = 0.8;  ///< Target of the mean acceptance probability, to which ε is
                               ///< adapted.
  bool adapt_mass = true;  ///< Whether to set M⁻¹ to the draws' variances; otherwise it stays
                           ///< 1.
  /// Called after each draw; may throw, which ends the run.
  std::function<void(std::int64_t done, std::int64_t of)> progress = {};
};

/// Chains that start at the rows of start [C, D] (any floating dtype). Each draw: a momentum p ~
/// N(0, M), a trajectory of leapfrog steps, whose end is accepted with probability min(1, e^(H −
/// H′)), which leaves p(θ) invariant for any ε. All chains move together, by one score() of C rows
/// per step.
///
/// Warm-up: ε by dual averaging (Hoffman and Gelman 2014), a diagonal M from three windows of draws
/// (from 1/10 of warm-up to 2/10, 4/10 and 9/10; none below 20 draws). Both are shared by all
/// chains; with `step` given, a chain does not depend on the number of chains.
///
/// A proposal at which ln p or its gradient is not finite is rejected. Draws depend on `rng` alone
/// (of which one block is used), not on the number of threads; the density is called from this
/// thread only.
///
/// At the first score of rows that differ, as many copies of row 0 are scored too (not counted in
/// `gradients`): if row 0 scores differently there, the density mixes chains.
///
/// Throws Error for settings out of range, if there is neither warm-up nor `step`, for a start of
/// another shape or where ln p or its gradient is not finite (naming the chain), if no ε is
/// accepted (a flat density, a wrong gradient), for a density that mixes chains, and as the density
/// does. Warns on std::cerr if after warm-up the acceptance is less than half of target_accept.
Chains hmc(const LogDensity& density, const Tensor& start, const HmcOptions& options,
           Generator& rng);

}  // namespace ladon
