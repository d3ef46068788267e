// A loop that calls libm for one number after the other, which hot_code must find.

#include <cmath>

namespace ladon {

void scalar_loop(const double* x, double* y, long n);

void scalar_loop(const double* x, double* y, long n) {
  for (long i = 0; i < n; ++i) y[i] = std::exp(x[i]) * std::erfc(x[i]);
}

}  // namespace ladon
