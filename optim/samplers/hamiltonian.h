#pragma once
// Hamiltonian dynamics of rows, from which hmc, nuts and tempering are built (Neal 2011, arXiv
// 1206.1901).
//
//   H(θ, p) = −ln p(θ) + ½ pᵀM⁻¹p,  M diagonal.
//
// Everything is f64 and all rows move at once: a step is one score() and a few passes over memory.

#include <cstdint>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon::samplers {

/// Points of phase space, one per row.
struct Phase {
  Tensor position, momentum;  ///< θ, p  [R, D]
  DensityScore score;         ///< ln p and its gradient at θ.
};

/// Step size and mass of moves.
struct Tuning {
  Tensor step;          ///< ε  [R, 1], or [1, 1] for all rows. Negative: backward in time.
  Tensor inverse_mass;  ///< The diagonal of M⁻¹  [R, D], or [1, D] for all rows.
};

/// H of each row, [R]; infinite or NaN outside the support.
Tensor energy(const Phase& at, const Tensor& inverse_mass);

/// p ← p + ½ε∇ln p(θ),  θ ← θ + εM⁻¹p,  p ← p + ½ε∇ln p(θ).
Phase leapfrog(const LogDensity& density, const Phase& from, const Tuning& tuning);

/// A trajectory whose energy rises by more than this counts as divergent.
inline constexpr double energy_bound = 1000;

/// Random streams of one draw: a generator per row, and one for what all rows share.
struct RandomStreams {
  std::vector<Generator> rows;
  Generator shared;
};

/// Draws p ~ N(0, M), each row from its own generator.
Tensor momenta(std::vector<Generator>& rows, const Tensor& inverse_mass);

/// min(1, e^(H_before − H_after)) of each row [R]; 0 unless H_after is finite.
std::vector<double> acceptance(const Tensor& before, const Tensor& after);

/// Result of a transition, for each row.
struct Moved {
  std::vector<double> acceptance;  ///< Acceptance probability, or its mean over the trajectory's
                                   ///< points.
  std::vector<bool> diverged;
  Tensor accepted = {};  ///< bool [R], set by metropolis().
};

/// Metropolis step: each row moves to `end` with its probability, using its own random number, or
/// stays (Metropolis et al. 1953; Hastings 1970). Momenta may be undefined. Throws Error unless
/// there is one probability per row.
Moved metropolis(Phase& at, const Phase& end, std::vector<double> probability,
                 RandomStreams& streams);

/// Throws Error unless 1 ≤ steps ≤ 1,000,000.
void check_steps(const char* operation, std::int64_t steps);

/// Draws momenta, runs a trajectory whose number of steps is uniform on 1 … 2·steps − 1, the same
/// for all rows, and accepts or rejects its end for each row. The last score() is at the ends.
Moved hmc_move(const LogDensity& density, Phase& at, const Tuning& tuning, std::int64_t steps,
               RandomStreams& streams);

}  // namespace ladon::samplers
