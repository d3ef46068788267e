#pragma once

#include <limits>

namespace ladon {

/// A value and its standard error `se`, estimated over repetitions or from the sample size. se is 0
/// for a value that has no standard error, and NaN if the standard error is unknown.
struct Measured {
  double value = std::numeric_limits<double>::quiet_NaN();
  double se = 0;
};

}  // namespace ladon
