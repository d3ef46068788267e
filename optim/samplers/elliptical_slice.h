#pragma once
// Elliptical slice sampling (Murray, Adams and MacKay 2010, arXiv 1001.0175): for posteriors with a
// normal prior, without a step size.
//
// For a state z and a draw ν from the prior, both distributed as the prior, z·cos θ + ν·sin θ is so
// distributed for every angle θ. The sampler draws a level below the likelihood of z, and shrinks a
// bracket of angles around z until a proposal's likelihood is above the level.

#include <cstdint>
#include <functional>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/optim/samplers/chains.h"

namespace ladon {

/// ln p(data | z) of each row: f64 [P, D] → f64 [P]; NaN counts as −∞, "impossible".
using LogLikelihood = std::function<Tensor(const Tensor& z)>;

/// Rows Z [P, D] with target ∝ N(z; 0, 1)·L(z)^β, each a separate chain, and their ln L [P].
struct EllipticalState {
  Tensor z, log_likelihood;
};

/// Moves the columns [begin, end) of all rows once, leaving the target invariant. Rows are proposed
/// together: each call of `f` evaluates one proposal for all brackets not yet finished. Row i draws
/// from rng.split(i), so it does not depend on other rows. Returns the number of rows evaluated by
/// `f`. Throws Error for shapes that do not fit, and β < 0.
std::int64_t elliptical_slice(EllipticalState& state, const LogLikelihood& f, double beta,
                              std::int64_t begin, std::int64_t end, const Generator& rng);

struct EllipticalOptions {
  std::int64_t draws = 1000;   ///< S: number of draws kept per chain.
  std::int64_t warmup = 1000;  ///< Number of sweeps before the kept ones.
  std::int64_t thin = 1;       ///< One sweep in this many is kept.
  std::int64_t parts = 1;  ///< A sweep moves this many equal parts of a row, one after the other.
  /// Called after each sweep; may throw, which ends the run.
  std::function<void(std::int64_t done, std::int64_t of)> progress = {};
};

/// Chains for N(z; 0, 1)·L(z) that start at the rows of start [C, D]. Every sweep moves: acceptance
/// is the fraction of proposals that were accepted, the inverse of the mean number of angles per
/// move. `log_density` is ln L + ln N(z; 0, 1) up to a constant; `gradients` is the number of rows
/// evaluated. Advances rng by one block. Throws Error for settings out of range, a dimension that
/// is not a multiple of `parts`, and if a start is impossible (naming it).
Chains elliptical_slice_chains(const LogLikelihood& f, const Tensor& start,
                               const EllipticalOptions& options, Generator& rng);

}  // namespace ladon
