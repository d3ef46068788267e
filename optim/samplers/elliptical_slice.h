#pragma once
// Elliptical slice sampling (Murray, Adams and MacKay 2010, arXiv 1001.0175): posteriors under a
// normal prior, without a step size.
//
// Of a state z and a draw ν from the prior, z·cos θ + ν·sin θ has the prior's law for every angle
// θ. The sampler takes a level below the likelihood of z, and shrinks a bracket of angles around z
// itself until a proposal's likelihood is above it.

#include <cstdint>
#include <functional>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/optim/samplers/chains.h"

namespace ladon {

/// ln p(data | z) of each row: f64 [P, D] → f64 [P]; NaN and −∞ alike are "impossible".
using LogLikelihood = std::function<Tensor(const Tensor& z)>;

/// Rows Z [P, D] of a target ∝ N(z; 0, 1)·L(z)^β, each a chain of its own, and their ln L [P].
struct EllipticalState {
  Tensor z, log_likelihood;
};

/// Moves the columns [begin, end) of all rows once; the target is invariant. Rows are proposed
/// together: one call of `f` is one shrinking of all brackets that are left. Row i draws from
/// rng.split(i), so that its way does not depend on the others'. Returns the number of rows that
/// `f` judged. Throws Error for shapes that do not fit, and β < 0.
std::int64_t elliptical_slice(EllipticalState& state, const LogLikelihood& f, double beta,
                              std::int64_t begin, std::int64_t end, const Generator& rng);

struct EllipticalOptions {
  std::int64_t draws = 1000;   ///< S: kept of each chain.
  std::int64_t warmup = 1000;  ///< Sweeps before, which are not kept.
  std::int64_t thin = 1;       ///< One of so many sweeps is kept.
  std::int64_t parts = 1;  ///< A sweep moves that many equal parts of a row, one after the other.
  /// Called after each sweep; may throw, which ends the run.
  std::function<void(std::int64_t done, std::int64_t of)> progress = {};
};

/// Chains of N(z; 0, 1)·L(z) that begin at the rows of start [C, D]. Every sweep moves: acceptance
/// is the share of proposals that were accepted, 1 over how many angles a move took. `log_density`
/// is ln L + ln N(z; 0, 1) up to a constant; `gradients` counts rows judged. Advances rng by one
/// block. Throws Error for settings out of range, a dimension that is no multiple of `parts`, and
/// where a start is impossible (naming it).
Chains elliptical_slice_chains(const LogLikelihood& f, const Tensor& start,
                               const EllipticalOptions& options, Generator& rng);

}  // namespace ladon
