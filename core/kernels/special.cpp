#include "ladon/core/kernels/special.h"

#include <math.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

constexpr std::int64_t grain = 1024;  // elements per task

/// f applied to each element of x, computed in double.
template <class F>
Tensor each(const char* name, const Tensor& x, const F& f) {
  const Tensor dense = contiguous(x);
  Tensor y = empty(x.shape(), x.dtype());
  visit_floating(name, x.dtype(), [&]<class T>() {
    const T* in = dense.data<T>();
    T* out = y.mutable_data<T>();
    parallel::for_range(x.count(), grain, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) out[i] = static_cast<T>(f(static_cast<double>(in[i])));
    });
  });
  return y;
}

double log_gamma(double x) {
  int sign;  // lgamma itself writes the sign to a global variable
  return ::lgamma_r(x, &sign);
}

/// xⁿ for n ≥ 0, computed as a product, because the C library's power takes ten times as long.
double power(double x, int n) {
  double product = 1;
  for (; n > 0; --n) product *= x;
  return product;
}

double factorial(int n) {
  double product = 1;
  for (; n > 1; --n) product *= n;
  return product;
}

/// dⁿ/dxⁿ cot(πx)/πⁿ as a polynomial of c = cot(πx): P₀ = c, Pₙ₊₁ = −(1 + c²)·Pₙ'.
double cot_derivative(int n, double c) {
  std::array<double, max_polygamma + 2> p{0, 1};
  for (int k = 0; k < n; ++k) {
    std::array<double, max_polygamma + 2> next{};
    for (int i = 1; i <= k + 1; ++i) {
      next[i - 1] -= i * p[i];
      next[i + 1] -= i * p[i];
    }
    p = next;
  }
  double sum = 0;
  for (int i = n + 1; i >= 0; --i) sum = sum * c + p[i];
  return sum;
}

/// (−1)ⁿ⁺¹·ψ⁽ⁿ⁾(x) for large x: (n−1)!/xⁿ + n!/(2xⁿ⁺¹) + Σ_k B₂ₖ·(2k+n−1)!/((2k)!·x^(2k+n)) with
/// the Bernoulli numbers B₂ₖ; for n = 0 the first term is −ln x (Abramowitz and Stegun 6.4.11,
/// 6.3.18).
double asymptotic(int n, double x) {
  constexpr double bernoulli[] = {1. / 6,       -1. / 30,      1. / 42, -1. / 30,
                                  5. / 66,      -691. / 2730,  7. / 6,  -3617. / 510,
                                  43867. / 798, -174611. / 330};
  const double second =
      factorial(n) / power(x, n + 1);  // n!/xⁿ⁺¹; may underflow to 0 though the first term does not
  double sum = (n == 0 ? -std::log(x) : factorial(n - 1) / power(x, n)) + second / 2;
  double term = second * (n + 1) / (2 * x);  // (2k+n−1)!/((2k)!·x^(2k+n)) for k = 1
  for (int k = 1; k <= 10; ++k) {
    sum += bernoulli[k - 1] * term;
    term *= (2 * k + n) / (2 * k + 1.) * ((2 * k + n + 1) / (2 * k + 2.)) / (x * x);
  }
  return sum;
}

}  // namespace

// ψ⁽ⁿ⁾(x) = ψ⁽ⁿ⁾(x + 1) + (−1)ⁿ⁺¹·n!/xⁿ⁺¹ is applied to increase x until the asymptotic series is
// exact up to rounding. For x ≤ 0:  ψ⁽ⁿ⁾(x) = (−1)ⁿ·ψ⁽ⁿ⁾(1 − x) − πⁿ⁺¹·cot_derivative.
double polygamma(int n, double x) {
  const double sign = n % 2 == 0 ? -1 : 1;  // (−1)ⁿ⁺¹
  if (x <= 0) {
    const double whole = std::nearbyint(x);
    using Limits = std::numeric_limits<double>;
    // For odd n, ∞ is the limit from both sides of a pole.
    if (x == whole && std::isfinite(x) && n % 2 == 1) return Limits::infinity();
    if (x == whole || std::isinf(x)) return Limits::quiet_NaN();
    const double c = 1 / std::tan(std::numbers::pi * (x - whole));
    return -sign * polygamma(n, 1 - x) - power(std::numbers::pi, n + 1) * cot_derivative(n, c);
  }
  if (std::isinf(x)) return n == 0 ? x : 0;
  double sum = 0;
  for (const double numerator = factorial(n); x < 12 + n; ++x) sum += numerator / power(x, n + 1);
  return sign * (sum + asymptotic(n, x));
}

Tensor lgamma(const Tensor& x) {
  if (x.mapped()) return mapped::broadcast([](const Tensor& u) { return lgamma(u); }, x);
  return each("lgamma", x, log_gamma);
}

Tensor polygamma(int n, const Tensor& x) {
  if (x.mapped()) return mapped::broadcast([=](const Tensor& u) { return polygamma(n, u); }, x);
  LADON_CHECK(n >= 0 && n <= max_polygamma, "polygamma", "the order n is ", n,
              "; it must lie in [0, ", max_polygamma, "]");
  return each("polygamma", x, [n](double v) { return polygamma(n, v); });
}

// --- draws of the Gamma distribution ---
//
// The bits of a draw depend on the generator and alpha alone, not on the processor. The C library
// has variants of exp, log, … for processors with and without fused multiply-adds, which differ in
// the last bit, and so do the loops of the instruction levels. Therefore the draws use the formulas
// below, and this file is compiled without contraction to fused multiply-adds (CMakeLists.txt).

namespace {

constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

/// e^x = 2^k·e^r with |r| ≤ ln 2/2, by Taylor's series.
double exp_of(double x) {
  if (!(std::abs(x) < 1000)) return x < 0 ? 0 : x;  // NaN gives NaN
  constexpr int terms = 14;
  constexpr auto inverse_factorials = [] {
    std::array<double, terms> c{1};
    for (std::size_t n = 1; n < terms; ++n) c[n] = c[n - 1] / static_cast<double>(n);
    return c;
  }();
  const double k = std::nearbyint(x / std::numbers::ln2);
  const double r = (x - k * ln2_high) - k * ln2_low;
  double sum = 0;
  for (std::size_t n = terms; n-- > 0;) sum = inverse_factorials[n] + r * sum;
  return std::ldexp(sum, static_cast<int>(k));
}

/// x − (e^x − 1) = −x²/2·(1 + x/3·(1 + x/4·(…))), which does not cancel.
double x_minus_expm1(double x) {
  if (!(std::abs(x) < 0.5)) return x + 1 - exp_of(x);
  double sum = 1;
  for (int n = 16; n >= 3; --n) sum = 1 + x * (1. / n) * sum;
  return -x * x / 2 * sum;
}

/// ln(2^k·m) with m from √½ to √2: ln m = 2·artanh(s) for s = (m − 1)/(m + 1).
double log_of(double x) {
  int k;
  double m = std::frexp(x, &k);
  if (m < 0.5 * std::numbers::sqrt2) {
    m *= 2;
    --k;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int n = 12; n >= 0; --n) sum = 1. / (2 * n + 1) + square * sum;
  return k * ln2_high + (2 * s * sum + k * ln2_low);
}

/// ln(1 + x), corrected for the rounding of 1 + x (Kahan).
double log1p_of(double x) {
  const double rounded = 1 + x;
  return rounded == 1 ? x : log_of(rounded) * (x / (rounded - 1));
}

/// ln of a draw from Gamma(α, 1), α ≥ 1, by rejection: the draw is d·V with d = α − 1/3,
/// V = (1 + z/√(9d))³ and z ~ N(0, 1).
double log_draw_above_one(double alpha, Generator& rng) {
  const double d = alpha - 1. / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double z = rng.normal();
    if (1 + c * z <= 0) continue;
    const double log_v = 3 * log1p_of(c * z), u = 1 - rng.uniform();  // in (0, 1]
    if (log_of(u) < z * z / 2 + d * x_minus_expm1(log_v)) return log_of(d) + log_v;
  }
}

double log_draw(double alpha, Generator rng) {
  if (alpha >= 1) return log_draw_above_one(alpha, rng);
  const double u = 1 - rng.uniform();
  return log_draw_above_one(alpha + 1, rng) + log_of(u) / alpha;
}

/// ∫₀^∞ f(s) ds of an f that decays exponentially beyond about `width`, by the trapezoidal rule in
/// t with s = width·exp(t − e^−t) (double exponential quadrature, Takahasi and Mori 1974).
template <class F>
double integral(double width, const F& f) {
  double sum = 0;
  constexpr double step = 0.0625;
  for (int i = -64; i <= 96; ++i) {
    const double t = step * i, e = std::exp(-t), s = width * std::exp(t - e);
    sum += f(s) * s * (1 + e);
  }
  return sum * step;
}

/// The s at which a decreasing function w ≤ 1 falls to e^−1, within a factor of two. log_w(s) is
/// the logarithm of w(s).
template <class F>
double width_of(const F& log_w) {
  double width = 1;
  while (log_w(width) > -1) width *= 2;
  while (log_w(width / 2) < -1) width /= 2;
  return width;
}

}  // namespace

// Let F be the distribution function and p the density of Gamma(α, 1), and let x = e^L be the point
// at which F has a fixed value. Then dL/dα = −(∂F/∂α)/(x·p(x)). The series
// F = Σ_k x^(α+k)·e^−x/Γ(α+k+1) gives
//   dL/dα = Σ_k x^k/(α)_(k+1)·(ψ(α+k+1) − ln x),
// whose terms are positive for x < e^ψ(α+1). For larger x, and for large α, where the series needs
// many terms, ∂p/∂α = p(t)·(ln t − ψ(α)), whose integral over all t is 0, is integrated from 0 to x
// (t = x·e^−s) or from x to ∞ (t = x·e^s):
//   dL/dα = ∫₀^∞ e^(−αs + x(1 − e^−s))·(ψ(α) − ln x + s) ds
//         = ∫₀^∞ e^(αs − x(e^s − 1))·(ln x − ψ(α) + s) ds.
double log_gamma_slope(double log_x, double alpha) {
  const double x = std::exp(log_x);
  if (log_x >= polygamma(0, alpha + 1)) {
    const auto log_w = [&](double s) { return alpha * s - x * std::expm1(s); };
    const double apart = log_x - polygamma(0, alpha);
    return integral(width_of(log_w), [&](double s) { return std::exp(log_w(s)) * (apart + s); });
  }
  if (alpha > 50) {
    const auto log_w = [&](double s) { return -alpha * s - x * std::expm1(-s); };
    const double apart = polygamma(0, alpha) - log_x;
    return integral(width_of(log_w), [&](double s) { return std::exp(log_w(s)) * (apart + s); });
  }
  double sum = 0, term = 1 / alpha, psi = polygamma(0, alpha + 1);
  for (int k = 0; k < 1000; ++k) {
    const double more = term * (psi - log_x);
    sum += more;
    if (more < 1e-17 * sum) break;
    psi += 1 / (alpha + k + 1);
    term *= x / (alpha + k + 1);
  }
  return sum;
}

namespace {

Tensor log_gamma_draws_of_one(Generator& rng, const Tensor& alpha) {
  const Generator own = rng.split(rng.reserve(1));
  const Tensor dense = contiguous(alpha);
  Tensor draws = empty(alpha.shape(), f64);
  const double* in = dense.data<double>();
  double* out = draws.mutable_data<double>();
  parallel::for_range(alpha.count(), grain, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) out[i] = log_draw(in[i], own.split(static_cast<std::uint64_t>(i)));
  });
  return draws;
}

}  // namespace

Tensor log_gamma_draws(const Tensor& alpha, Generator& rng) {
  return mapped::drawn("log_gamma_draws", alpha.shape(), f64, rng, alpha, log_gamma_draws_of_one);
}

Tensor exp_of_draws(const Tensor& draws) {
  if (draws.mapped()) return mapped::broadcast(exp_of_draws, draws);
  return each("exp_of_draws", draws, exp_of);
}

Tensor softmax_of_draws(const Tensor& draws) {
  if (draws.mapped()) return mapped::broadcast(softmax_of_draws, draws);
  const Tensor dense = contiguous(draws);
  Tensor shares = empty(draws.shape(), f64);
  const std::int64_t n = draws.size(-1);
  const double* in = dense.data<double>();
  double* out = shares.mutable_data<double>();
  parallel::for_range(draws.count() / n, std::max<std::int64_t>(grain / n, 1),
                      [&](std::int64_t row, std::int64_t end) {
                        for (; row < end; ++row) {
                          const double *x = in + row * n, highest = *std::max_element(x, x + n);
                          double *y = out + row * n, sum = 0;
                          for (std::int64_t i = 0; i < n; ++i) sum += y[i] = exp_of(x[i] - highest);
                          for (std::int64_t i = 0; i < n; ++i) y[i] /= sum;
                        }
                      });
  return shares;
}

Tensor log_gamma_slopes(const Tensor& draws, const Tensor& alpha) {
  if (mapped::any(draws, alpha)) return mapped::batched(log_gamma_slopes, draws, alpha);
  const Tensor l = contiguous(draws), a = contiguous(alpha);
  Tensor slopes = empty(l.shape(), f64);
  const double *at = l.data<double>(), *shape = a.data<double>();
  double* out = slopes.mutable_data<double>();
  parallel::for_range(l.count(), grain, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) out[i] = log_gamma_slope(at[i], shape[i]);
  });
  return slopes;
}

}  // namespace ladon::kernels
