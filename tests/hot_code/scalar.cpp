// A loop over libm, as hot_code is to find it in the library.

#include <cmath>

namespace ladon {

void scalar_loop(const double* x, double* y, long n);

void scalar_loop(const double* x, double* y, long n) {
  for (long i = 0; i < n; ++i) y[i] = std::exp(x[i]) * std::erfc(x[i]);
}

}  // namespace ladon
