#pragma once
// Hamiltonian dynamics of R chains at once, the rows of a matrix, from which hmc, nuts and
// tempering are built (Neal 2011, arXiv 1206.1901). The energy of position θ and momentum p is
//
//   H(θ, p) = −ln p(θ) + ½ pᵀM⁻¹p,  with a diagonal mass matrix M.
//
// All tensors are f64. One leapfrog step of all rows is one call of LogDensity::score() and a few
// passes over memory. All functions throw Error, before anything changes, for shapes other than
// those below; the message names the argument, its shape, and the shape that it must have.

#include <cstdint>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon::samplers {

/// Points of phase space, one per row.
struct Phase {
  Tensor position, momentum;  ///< θ and p, each [R, D].
  DensityScore score;         ///< ln p and its gradient at θ.
};

/// Step size and mass matrix of the leapfrog integrator.
struct Tuning {
  Tensor step;          ///< ε  [R, 1], or [1, 1] for all rows. Negative ε runs backward in time.
  Tensor inverse_mass;  ///< The diagonal of M⁻¹  [R, D], or [1, D] for all rows.
};

/// H of each row, [R]; infinite or NaN outside the support.
Tensor energy(const Phase& at, const Tensor& inverse_mass);

/// One leapfrog step of all rows: p ← p + ½ε∇ln p(θ),  θ ← θ + εM⁻¹p,  p ← p + ½ε∇ln p(θ).
Phase leapfrog(const LogDensity& density, const Phase& from, const Tuning& tuning);

/// A trajectory whose energy rises by more than this bound counts as divergent.
inline constexpr double energy_bound = 1000;

/// Random generators of one draw: one per row, and one for random numbers that all rows share.
struct RandomStreams {
  std::vector<Generator> rows;
  Generator shared;
};

/// Draws p ~ N(0, M), each row from its own generator.
Tensor momenta(std::vector<Generator>& rows, const Tensor& inverse_mass);

/// min(1, e^(H_before − H_after)) of each row [R]; 0 unless H_after is finite.
std::vector<double> acceptance(const Tensor& before, const Tensor& after);

/// Result of one transition, with one element per row.
struct Moved {
  std::vector<double> acceptance;  ///< Acceptance probability; for nuts its mean over the points
                                   ///< of the trajectory.
  std::vector<bool> diverged;
  Tensor accepted = {};  ///< bool [R], set by metropolis().
};

/// Metropolis accept step: row r moves to `end` with probability `probability[r]`, drawn from its
/// own generator, and otherwise stays at `at` (Metropolis et al. 1953; Hastings 1970). Momenta may
/// be undefined. Throws Error unless there is one probability per row.
Moved metropolis(Phase& at, const Phase& end, std::vector<double> probability,
                 RandomStreams& streams);

/// Throws Error unless 1 ≤ steps ≤ 1,000,000.
void check_steps(const char* operation, std::int64_t steps);

/// One HMC transition of all rows: draws momenta, runs a trajectory whose number of leapfrog steps
/// is uniform on 1 … 2·steps − 1 and the same for all rows, and accepts or rejects its end for each
/// row. The last call of score() is at the trajectories' ends.
Moved hmc_move(const LogDensity& density, Phase& at, const Tuning& tuning, std::int64_t steps,
               RandomStreams& streams);

}  // namespace ladon::samplers
