#include "ladon/core/kernels/loops/rectifier.h"

#include "ladon/core/kernels/loops/angle.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

constexpr double two_over_pi = 0x1.45f306dc9c883p-1;

// As the rectifier of loops/dual.cpp at p = q = 1, with s = sqrt((1−ρ)(1+ρ)) and ω = atan2(s, |ρ|):
//   κ = α²ρ + β²|ρ| + β²·2/π·(s − |ρ|ω),   κ' = α² ± β²·2/π·(π/2 − ω)
template <bool all>
void sums_of(double alpha2, double beta2, double r, const double* rho,
             const double* const weight[4], int64_t n, RectifierSums& sums) {
  const double *w0 = weight[0], *w1 = weight[1], *w2 = weight[2], *w3 = weight[3];
  const double over_pi = beta2 * two_over_pi;
  double v0 = 0, v1 = 0, s0 = 0, s1 = 0;
#pragma omp simd reduction(+ : v0, v1, s0, s1)
  for (int64_t i = 0; i < n; ++i) {
    const double c = r * rho[i], m = abs(c);
    const double s = sqrt(at_least((1.0 - m) * (1.0 + m), 0.0));
    const Angle w = angle(s, m);
    const double value = alpha2 * c + beta2 * m + over_pi * (s - m * w.angle);
    v0 += w0[i] * value;
    if constexpr (all) {
      const double slope = alpha2 + copysign(over_pi * w.rest, c);
      v1 += w1[i] * value;
      s0 += w2[i] * slope;
      s1 += w3[i] * slope;
    }
  }
  sums.value[0] += v0;
  sums.value[1] += v1;
  sums.slope[0] += s0;
  sums.slope[1] += s1;
}

void rectifier_sums(double alpha2, double beta2, double r, const double* rho,
                    const double* const w[4], bool all, int64_t n, RectifierSums& sums) {
  (all ? sums_of<true> : sums_of<false>)(alpha2, beta2, r, rho, w, n, sums);
}

}  // namespace

void add_rectifier_sums(Loops& table) { table.rectifier_sums = rectifier_sums; }

}  // namespace ladon::kernels::LADON_LEVEL
