#pragma once

#include <limits>

namespace ladon {

/// A value and its standard error, over repetitions or from the size of a sample: 0 for a value
/// without one, NaN if it is unknown.
struct Measured {
  double value = std::numeric_limits<double>::quiet_NaN();
  double se = 0;
};

}  // namespace ladon
