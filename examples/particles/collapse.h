#pragma once
// What is left of the variance of a few particles in many dimensions, on N(0, I).

#include <cstdint>
#include <vector>

#include "ladon/examples/common/progress.h"
#include "ladon/examples/particles/settings.h"

namespace ladon::example {

/// Variances a coordinate (over M, mean over coordinates; the target's is 1) where particles rest.
struct Remaining {
  std::int64_t dim;
  double svgd;            ///< With the α of the settings; NaN if that is automatic.
  double law;             ///< α·ln(M + 1)(M − 1)/(M·D); NaN for D < M − 1 and automatic α.
  double automatic;       ///< With `automatic` α.
  double per_coordinate;  ///< α again, one kernel per coordinate; NaN in more than 100 dimensions.
};

/// Work of these dimensions, in steps of Progress.
double collapse_work(const Settings& settings);

/// Adds a dimension after the other to `all`. Throws Interrupted.
void run_collapse(const Settings& settings, std::vector<Remaining>& all, Progress& progress);

}  // namespace ladon::example
