#pragma once
// Elliptical slice sampling (Murray, Adams and MacKay 2010, arXiv 1001.0175): posteriors under a normal
// prior, without a step size.
//
// Of a state z and a draw ν from the prior, z·cos θ + ν·sin θ has the prior's law for every angle θ. The
// sampler takes a level below the likelihood of z, and shrinks a bracket of angles around z itself until
// a proposal's likelihood is above it.

#include <cstdint>
#include <functional>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// ln p(data | z) of each row: f64 [P, D] → f64 [P]; NaN and −∞ alike are "impossible".
using LogLikelihood = std::function<Tensor(const Tensor& z)>;

/// Rows Z [P, D] of a target ∝ N(z; 0, 1)·L(z)^β, each a chain of its own, and their ln L [P].
struct EllipticalState {
  Tensor z, log_likelihood;
};

/// Moves the columns [begin, end) of all rows once; the target is invariant. Rows are proposed together:
/// one call of `f` is one shrinking of all brackets that are left. Row i draws from
/// rng.split(i), so that its way does not depend on the others'. Returns the number of rows that `f` judged.
/// Throws Error for shapes that do not fit, and β < 0.
std::int64_t elliptical_slice(EllipticalState& state, const LogLikelihood& f, double beta,
                              std::int64_t begin, std::int64_t end, const Generator& rng);

}  // namespace ladon
