#pragma once
// Elliptical slice sampling (Murray, Adams and MacKay 2010, arXiv 1001.0175): MCMC without a step
// size for posteriors with a standard normal prior.
//
// If z and ν are independent draws from the prior, z·cos θ + ν·sin θ has the prior's distribution
// for every angle θ. Given the current state z, the sampler draws ν from the prior and a level
// below the likelihood of z, then draws angles θ from an interval that shrinks towards θ = 0 until
// the likelihood of z·cos θ + ν·sin θ is above the level.

#include <cstdint>
#include <functional>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/optim/samplers/chains.h"

namespace ladon {

/// Log likelihood ln L(z) = ln p(data | z) of each row of z: f64 [P, D] → f64 [P]; NaN counts as −∞
/// (an impossible state).
using LogLikelihood = std::function<Tensor(const Tensor& z)>;

/// States z f64 [P, D] of P separate chains, one per row, and their ln L, f64 [P].
struct EllipticalState {
  Tensor z, log_likelihood;
};

/// One elliptical slice update of the columns [begin, end) of every row z, which leaves the density
/// ∝ N(z; 0, I)·L(z)^β invariant. Each call of `f` evaluates one proposal for each row that has not
/// accepted one yet. Row i draws from rng.split(i), so it does not depend on other rows. Returns
/// the total number of rows evaluated by `f`. Throws Error for shapes that do not fit, and unless β
/// is finite and ≥ 0.
std::int64_t elliptical_slice(EllipticalState& state, const LogLikelihood& f, double beta,
                              std::int64_t begin, std::int64_t end, const Generator& rng);

struct EllipticalOptions {
  std::int64_t draws = 1000;   ///< S: number of draws kept per chain.
  std::int64_t warmup = 1000;  ///< Number of warm-up sweeps, which are discarded.
  std::int64_t thin = 1;       ///< Thinning: one sweep in `thin` is kept.
  std::int64_t parts = 1;      ///< A sweep updates `parts` equal parts of a row, one after another.
  /// Called after each sweep with the number of sweeps done and the total; may throw, which ends
  /// the run.
  std::function<void(std::int64_t done, std::int64_t of)> progress = {};
};

/// Chains with stationary density ∝ N(z; 0, I)·L(z) that start at the rows of start [C, D]. In the
/// result, `acceptance` is the fraction of evaluated angles that were accepted (every sweep ends
/// with an accepted angle), `log_density` is ln L(z) + ln N(z; 0, I) up to a constant, and
/// `gradients` is the number of likelihood evaluations. Advances rng by one block (core/random.h).
/// Throws Error for settings out of range, for a dimension that is not a multiple of `parts`, and
/// if ln L is not finite at a start (naming the chain).
Chains elliptical_slice_chains(const LogLikelihood& f, const Tensor& start,
                               const EllipticalOptions& options, Generator& rng);

}  // namespace ladon
