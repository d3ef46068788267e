#pragma once

#include <limits>

namespace ladon {

/// A figure and its standard error: of a mean over repetitions, or by a sample's size; 0 for a
/// figure that has none, NaN where it is not known.
struct Measured {
  double value = std::numeric_limits<double>::quiet_NaN();
  double se = 0;
};

}  // namespace ladon
