#pragma once
// Rules for the bandwidth h of a kernel between particles. Published implementations differ, so
// each rule has a name.

#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon {

/// Rule for the squared bandwidth h², given the squared distances d²_ij of M particles.
enum class Bandwidth {
  median,  ///< ½·median(d², i ≠ j)/ln(M + 1), the default.
  liu,    ///< ½·median(d², all i, j)/ln(M + 1), including the diagonal's zeros (Liu 2016, code).
  paper,  ///< As liu, with the lower median ("Repulsive Attention", An et al. 2020, code).
  nips,  ///< ½·median(d, i ≠ j)²/ln M (Liu and Wang 2016, text; their kernel exp(−d²/h') has
         ///< h' = 2h²).
  fixed,  ///< h² is given by the user.
};

/// Parses "median", "liu", "paper", "nips" or "fixed". Throws Error for any other name.
Bandwidth bandwidth_from_name(std::string_view name);
std::string_view to_string(Bandwidth rule);

/// The squared bandwidth h² from squared distances f64 [M, M]; for Bandwidth::fixed it is `given`.
/// Returns 0, meaning that no bandwidth can be derived, for a single particle, and if the median
/// distance is 0 because most pairs of particles are equal. `liu` and `paper` also count each
/// particle paired with itself, so under `paper` the median of two particles is always 0. The
/// median of an even number of values is the mean of the middle two, except under `paper`. Throws
/// Error if a distance is not finite, or if `given` is used and is not positive and finite.
double bandwidth(Bandwidth rule, const Tensor& squared_distances, double given = 1);

}  // namespace ladon
