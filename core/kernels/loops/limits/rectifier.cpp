#include "ladon/core/kernels/loops/limits/rectifier.h"

#include "ladon/core/kernels/loops/limits/angle.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

constexpr double two_over_pi = 0x1.45f306dc9c883p-1;

// Weighted sums of the dual activations κ and κ' of a rectifier at p = q = 1 (limits/dual.cpp),
// with s = sqrt((1−ρ)(1+ρ)) and ω = atan2(s, |ρ|):
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

// The powers of x, eight at a time: x^k … x^(k+7), from k = 0 on.
class Powers {
 public:
  static constexpr int lanes = 8;
  explicit Powers(double x) {
    now_[0] = 1;
    for (int l = 1; l < lanes; ++l) now_[l] = now_[l - 1] * x;
    step_ = now_[lanes - 1] * x;
  }
  double operator[](int lane) const { return now_[lane]; }
  /// Advances to the next eight powers; returns false if they are too small to matter.
  bool next() {
#pragma omp simd
    for (int l = 0; l < lanes; ++l) now_[l] *= step_;
    return now_[0] > 1e-25;
  }

 private:
  double now_[lanes], step_;
};

template <int count>
void add_powers_of(double x, const double* weight, double* sums) {
  Powers power(x);
  for (int64_t k = 0; k < power_terms; k += Powers::lanes) {
    for (int m = 0; m < count; ++m)
#pragma omp simd
      for (int l = 0; l < Powers::lanes; ++l) sums[m * power_terms + k + l] += weight[m] * power[l];
    if (!power.next()) break;
  }
}

void add_powers(double x, const double* weight, int count, double* sums) {
  (count == 1 ? add_powers_of<1> : add_powers_of<4>)(x, weight, sums);
}

template <int count>
void power_series_of(double x, const double* factors, const double* sums, double* y) {
  double part[count][Powers::lanes] = {};
  Powers power(x);
  for (int64_t k = 0; k < power_terms; k += Powers::lanes) {
    for (int m = 0; m < count; ++m)
#pragma omp simd
      for (int l = 0; l < Powers::lanes; ++l) {
        const int64_t at = m * power_terms + k + l;
        part[m][l] += factors[at] * sums[at] * power[l];
      }
    if (!power.next()) break;
  }
  for (int m = 0; m < count; ++m) {
    y[m] = 0;
    for (const double lane : part[m]) y[m] += lane;
  }
}

void power_series(double x, const double* factors, const double* sums, int count, double* y) {
  (count == 1 ? power_series_of<1> : power_series_of<4>)(x, factors, sums, y);
}

}  // namespace

void add_rectifier(Loops& table) { table.rectifier = {rectifier_sums, add_powers, power_series}; }

}  // namespace ladon::kernels::LADON_LEVEL
