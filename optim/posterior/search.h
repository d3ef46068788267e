#pragma once
// Golden section search.

#include <cmath>
#include <utility>

namespace ladon {

/// The x in [low, high] that minimizes f, to within `tolerance`, and f(x). f must have a single
/// minimum in the interval, decreasing before it and increasing after it.
template <class F>
std::pair<double, double> smallest(double low, double high, double tolerance, const F& f) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double f_a = f(a), f_b = f(b);
  while (high - low > tolerance) {
    if (f_a <= f_b) {
      high = b, b = a, f_b = f_a;
      f_a = f(a = high - golden * (high - low));
    } else {
      low = a, a = b, f_a = f_b;
      f_b = f(b = low + golden * (high - low));
    }
  }
  return f_a <= f_b ? std::pair(a, f_a) : std::pair(b, f_b);
}

}  // namespace ladon
