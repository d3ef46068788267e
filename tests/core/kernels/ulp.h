#pragma once

#include <cmath>
#include <limits>

namespace ladon::test {

/// The unit in the last place of x.
template <class T>
double ulp(T x) {
  using Limits = std::numeric_limits<T>;
  if (std::fabs(x) < Limits::min()) return Limits::denorm_min();
  return std::ldexp(1.0, std::ilogb(x) - (Limits::digits - 1));
}

}  // namespace ladon::test
