// Dual activations E = E[φ(u)φ(v)] and E' = E[φ'(u)φ'(v)] in closed form. Throughout,
// (u, v) ~ N(0, [[p, c], [c, q]]) and
//   s = sqrt(pq − c²),   ω = atan2(s, |c|), the angle between u and ±v, from 0 to π/2.
//
// Sources: the arc-cosine kernels of Cho and Saul 2009 (rectifier, threshold), Williams 1997 (erf),
// Tsuchida, Pearce, van der Heide, Roosta and Gallagher 2021 (gelu), and the characteristic
// function of the normal distribution (sine, exponential).

#include "ladon/core/kernels/loops/limits/dual.h"

#include "ladon/core/kernels/loops/limits/angle.h"
#include "ladon/core/kernels/loops/math.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

constexpr double over_pi = 0x1.45f306dc9c883p-2, two_over_pi = 0x1.45f306dc9c883p-1,
                 over_two_pi = 0x1.45f306dc9c883p-3;

/// Rounding error of `product`, which is a·b rounded.
LADON_INLINE double lost_in_product(double a, double b, double product) {
#ifdef __FP_FAST_FMA
  return __builtin_fma(a, b, -product);
#else  // Dekker 1971: from products of the upper and lower halves of a and b
  const double ah = from_bits<double>(bits(a) & Format<double>::upper_half), al = a - ah;
  const double bh = from_bits<double>(bits(b) & Format<double>::upper_half), bl = b - bh;
  return ((ah * bh - product) + ah * bl + al * bh) + al * bl;
#endif
}

/// s² = pq − c², accurate to the last digits even if pq and c² nearly cancel (Kahan), and never
/// below 0.
LADON_INLINE double determinant(double p, double q, double c) {
  const double pq = p * q, cc = c * c;
  return at_least((pq - cc) + (lost_in_product(p, q, pq) - lost_in_product(c, c, cc)), 0.0);
}

/// Two results for one entry: the dual activations E and E', or the derivatives of one of them with
/// respect to c and to p.
struct Pair {
  double first, second;
};

// If p and q are far from 1, pq leaves the range of f64, and the correlation is lost. Then a
// homogeneous φ is rescaled. If φ has degree d, and p = 4^i·p', q = 4^j·q', c = 2^(i+j)·c', with
// the variances of the noise scaled by the same factors as p and q:
//   E = 2^(d(i+j))·E(p', q', c'),   ∂/∂c divides by 2^(i+j), ∂/∂p by 4^i.
// All factors are powers of two, so that the bits are those of the unscaled formulas wherever the
// unscaled formulas are right.

/// Whether x is in a range in which products of two numbers, and the rounding errors of the
/// products, are normal numbers.
LADON_INLINE bool moderate(double x) { return x == 0.0 || (x > 0x1p-440 && x < 0x1p220); }

/// The i for which x = 4^i·x' with x' in [1, 4); close to it for a subnormal x, and 0 for x = 0.
LADON_INLINE int64_t quarter_exponent(double x) {
  if (x == 0.0) return 0;
  const int64_t exponent = static_cast<int64_t>(bits(x) >> 52 & 0x7ff) - 1023;
  return (exponent + 1024) / 2 - 512;
}

/// An i for which x/4^i is moderate; it is 0 if x is moderate. A large x is kept as large as
/// possible, so that a noise variance of about 1 does not underflow to 0 when it is scaled by the
/// same factor.
LADON_INLINE int64_t scale_of(double x) {
  if (moderate(x)) return 0;
  return quarter_exponent(x) - (x > 1.0 ? 100 : 0);
}

/// 2^n for |n| ≤ 1022.
LADON_INLINE double power_of_two(int64_t n) {
  return from_bits<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

/// x·2^(ni + mj) for |i|, |j| ≤ 512 and small n, m.
LADON_INLINE double scaled(double x, int64_t i, int n, int64_t j, int m) {
  for (int k = n < 0 ? -n : n; k > 0; --k) x *= power_of_two(n < 0 ? -i : i);
  for (int k = m < 0 ? -m : m; k > 0; --k) x *= power_of_two(m < 0 ? -j : j);
  return x;
}

/// Variances f[0] and f[1] of independent noise that is added to u and to v. The noise's part of s²
/// is added after the difference pq − c² is formed. If p and q included the noise, this part would
/// be lost by cancellation at ρ = ±1.
struct Noise {
  double u, v, both;
  LADON_INLINE explicit Noise(const double* f) : u(f[0]), v(f[1]), both(f[0] * f[1]) {}

  LADON_INLINE double determinant(double p, double q, double c) const {
    return LADON_LEVEL::determinant(p, q, c) + (both + (p * v + q * u));
  }
  LADON_INLINE Noise scaled(int64_t i, int64_t j) const {
    const double list[] = {LADON_LEVEL::scaled(u, i, -2, 0, 0),
                           LADON_LEVEL::scaled(v, 0, 0, j, -2)};
    return Noise(list);
  }
};

// φ(x) = αx + β|x|; E[u|v|] = 0 by symmetry, and E|u||v| = 2/π·(s + c·asin ρ) with asin ρ =
// ±(π/2−ω) (E, E', p, q, c, s and ω: head of this file):
//   E    = α²c + β²·2/π·(s + |c|(π/2 − ω)) = α²c + β²|c| + β²·2/π·(s − |c|ω)
//   E'   = α² ± β²(1 − 2ω/π)
//   ∂E/∂p = β²·s/(πp)
// In this form relu (α = β = ½) keeps its relative accuracy even as ρ → −1, where E ~ ω³. A
// variable of variance 0 counts as independent of the other, and φ'(0) counts as α. In these
// formulas, p, q and s include the noise.
struct Rectifier {
  static constexpr int degree = 1;  // φ(tx) = t·φ(x) for t > 0
  double alpha2, beta2;
  Noise noise;
  LADON_INLINE explicit Rectifier(const double* f) : alpha2(f[0]), beta2(f[1]), noise(f + 2) {}
  LADON_INLINE Noise& added() { return noise; }

  LADON_INLINE double derivative(double c, const Angle& w) const {
    const double small = alpha2 + copysign(beta2 * two_over_pi, c) * w.rest;
    const double large = alpha2 + copysign(beta2, c) - copysign(beta2 * two_over_pi, c) * w.angle;
    return w.steep ? small : large;
  }
  LADON_INLINE double over(double x, double variance) const {
    const double p = variance + noise.u;
    return x / (p == 0.0 ? infinity<double> : p);
  }
  LADON_INLINE Pair values(double p, double q, double c) const {
    const double s = sqrt(noise.determinant(p, q, c)), m = abs(c);
    const Angle w = angle(s, m);
    const double linear = alpha2 * c + beta2 * m;
    return {linear + (beta2 * two_over_pi) * (s - m * w.angle), derivative(c, w)};
  }
  LADON_INLINE Pair slopes(double p, double q, double c) const {
    const double s = sqrt(noise.determinant(p, q, c));
    return {derivative(c, angle(s, abs(c))), over((beta2 * over_pi) * s, p)};
  }
  /// ∂E'/∂c = β²·2/(πs),  ∂E'/∂p = −c/(2p)·∂E'/∂c.  Both are infinite at s = 0, but they cancel if
  /// p, q and c change together, as on the diagonal of a kernel matrix; at s = 0 they are set to 0.
  LADON_INLINE Pair curvatures(double p, double q, double c) const {
    const double s = sqrt(noise.determinant(p, q, c));
    const double by_c = (beta2 * two_over_pi) / (s == 0.0 ? infinity<double> : s);
    return {by_c, over(by_c * (-0.5 * c), p)};
  }
};

// φ(x) = α + β·sign(x), the derivative of a rectifier, so that E is the rectifier's E'.
//   E' = 0: the jump contributes neither to E' nor to a network's gradient.
struct Threshold {
  static constexpr int degree = 0;  // φ(tx) = φ(x) for t > 0
  Rectifier integral;
  LADON_INLINE explicit Threshold(const double* f) : integral(f) {}
  LADON_INLINE Noise& added() { return integral.noise; }

  LADON_INLINE Pair values(double p, double q, double c) const {
    return {integral.derivative(c, angle(sqrt(integral.noise.determinant(p, q, c)), abs(c))), 0.0};
  }
  LADON_INLINE Pair slopes(double p, double q, double c) const {
    return integral.curvatures(p, q, c);
  }
  LADON_INLINE Pair curvatures(double, double, double) const { return {0.0, 0.0}; }
};

// φ(x) = erf(x/√a) of u, and erf(x/√b) of v. With D² = (a+2p)(b+2q) − 4c² = ab + 2(bp+aq) + 4s²
// (E, E', p, q, c and s: head of this file):
//   E = 2/π·atan2(2c, D),  E' = 4/(πD),  ∂E/∂p = −4/π·c/(D(a+2p))
//   ∂E'/∂c = 16/π·c/D³,  ∂E'/∂p = −4/π·(b+2q)/D³
struct Erf {
  static constexpr int degree = 0;  // φ(tx) = φ(x) if a and b grow by t²
  Noise noise;
  LADON_INLINE explicit Erf(const double* f) : noise(f) {}
  LADON_INLINE Noise& added() { return noise; }

  LADON_INLINE double root(double p, double q, double c) const {
    return sqrt(noise.both + (2.0 * (p * noise.v + q * noise.u) + 4.0 * determinant(p, q, c)));
  }
  LADON_INLINE Pair values(double p, double q, double c) const {
    const double d = root(p, q, c);
    return {copysign(two_over_pi * angle(2.0 * abs(c), d).angle, c), (4.0 * over_pi) / d};
  }
  LADON_INLINE Pair slopes(double p, double q, double c) const {
    const double d = root(p, q, c);
    return {(4.0 * over_pi) / d, (-4.0 * over_pi) * c / (d * (noise.u + 2.0 * p))};
  }
  LADON_INLINE Pair curvatures(double p, double q, double c) const {
    const double d = root(p, q, c), factor = (4.0 * over_pi) / (d * d * d);
    return {factor * 4.0 * c, -factor * (noise.v + 2.0 * q)};
  }
};

// φ(x) = x·Φ(x/√a) of u, and x·Φ(x/√b) of v. With P = (a+p)(b+q), d² = P − c² = ab + bp + aq + s²,
// and A = atan2(c, d) = ±(π/2 − ω') (E, E', p, q, c and s: head of this file):
//   E    = c/4 + cA/2π + (ab·c² + pq·d²)/(2πPd)
//   E'   = 1/4 + A/2π + c/(2πd)·(ab/d² + K),  K = (2ab + bp + aq)/P
//   ∂E/∂p = 1/(2π(a+p)d)·((aq·d² − ab·c²)/P + s²/2 − ab·c²/(2d²))
//   ∂E'/∂c = 1/(2πd)·(1 + (1 + 3c²/d²)·ab/d² + K·(1 + c²/d²))
//   ∂E'/∂p = c/(2πd)·(b/P − (1/2 + K)/(a+p) − (b+q)/(2d²)·(3ab/d² + K))
// As in the rectifier, c/4 + cA/2π = (c + |c|)/4 − |c|ω'/2π does not cancel as ρ → −1.
struct Gelu {
  static constexpr int degree = 1;  // φ(tx) = t·φ(x) if a and b grow by t²
  Noise noise;
  LADON_INLINE explicit Gelu(const double* f) : noise(f) {}
  LADON_INLINE Noise& added() { return noise; }

  struct Terms {
    double s2, d2, d, product, over_d, over_p, angle, k;  // over_p = 1/P
    LADON_INLINE Terms(const Noise& n, double p, double q, double c) {
      s2 = determinant(p, q, c);
      const double mixed = p * n.v + q * n.u;
      d2 = n.both + (mixed + s2);
      d = sqrt(d2);
      product = (n.u + p) * (n.v + q);
      const double inverse = 1.0 / (product * d);
      over_d = inverse * product;
      over_p = inverse * d;
      angle = LADON_LEVEL::angle(d, abs(c)).angle;
      k = (2.0 * n.both + mixed) * over_p;
    }
  };
  LADON_INLINE double derivative(const Terms& t, double c) const {
    const double half = 0.25 + copysign(0.25, c) - copysign(over_two_pi, c) * t.angle;
    const double bracket = noise.both * (t.over_d * t.over_d) + t.k;
    return half + (over_two_pi * c) * t.over_d * bracket;
  }
  LADON_INLINE Pair values(double p, double q, double c) const {
    const Terms t(noise, p, q, c);
    const double m = abs(c);
    const double rest =
        (noise.both * (c * c) + (p * q) * t.d2) * (t.over_p * t.over_d) - m * t.angle;
    return {0.25 * (c + m) + over_two_pi * rest, derivative(t, c)};
  }
  LADON_INLINE Pair slopes(double p, double q, double c) const {
    const Terms t(noise, p, q, c);
    const double c2 = noise.both * (c * c);
    const double bracket =
        (noise.u * q * t.d2 - c2) * t.over_p + 0.5 * t.s2 - 0.5 * c2 * (t.over_d * t.over_d);
    return {derivative(t, c), over_two_pi * t.over_d / (noise.u + p) * bracket};
  }
  LADON_INLINE Pair curvatures(double p, double q, double c) const {
    const Terms t(noise, p, q, c);
    const double over_d2 = t.over_d * t.over_d, one = noise.both * over_d2, k = t.k;
    const double ratio = c * c * over_d2, over_one_p = 1.0 / (noise.u + p);
    const double by_c = 1.0 + (1.0 + 3.0 * ratio) * one + k * (1.0 + ratio);
    const double by_p = noise.v * t.over_p - over_one_p * (0.5 + k) -
                        0.5 * (noise.v + q) * over_d2 * (3.0 * one + k);
    return {over_two_pi * t.over_d * by_c, over_two_pi * c * t.over_d * by_p};
  }
};

// φ(x) = a·sin(bx + δ). With e± = exp(b²(±c − (p+q)/2)), from E cos(b(u ∓ v)) = e±
// (E, E', p, q and c: head of this file):
//   E = a²/2·(e₊ − e₋·cos 2δ),  E' = a²b²/2·(e₊ + e₋·cos 2δ),  ∂E/∂p = −b²/2·E
// e₊ − e₋ = ±e·(1 − exp(−2b²|c|)) where e is the larger of e₊ and e₋; in this form nothing cancels
// at small |c|.
struct Sine {
  double scale, b2, cosine;
  LADON_INLINE explicit Sine(const double* f) : scale(f[0]), b2(f[1]), cosine(f[2]) {}

  LADON_INLINE Pair values(double p, double q, double c) const {
    const double m = abs(c), larger = exp(b2 * (m - 0.5 * (p + q)));
    const double ratio = expm1(-2.0 * b2 * m);  // smaller/larger − 1
    const double difference = copysign(-larger * ratio, c);
    const double minus = c < 0.0 ? larger : larger + larger * ratio;
    return {scale * (difference + (1.0 - cosine) * minus),
            scale * b2 * (difference + (1.0 + cosine) * minus)};
  }
  LADON_INLINE Pair slopes(double p, double q, double c) const {
    const Pair e = values(p, q, c);
    return {e.second, -0.5 * b2 * e.first};
  }
  LADON_INLINE Pair curvatures(double p, double q, double c) const {  // φ'' = −b²·φ
    const Pair e = values(p, q, c);
    return {b2 * b2 * e.first, -0.5 * b2 * e.second};
  }
};

// E = A·exp(h(p+q) + gc) (E, E', p, q and c: head of this file).
// φ = a·exp(bx): A = a², h = b²/2, g = b².  The random Fourier features
// φ = √2·sin(√(2γ)x + π/4) (Rahimi and Recht 2007): A = 1, h = −γ, g = 2γ.  Both: E' = ∂E/∂c = gE.
struct Exponential {
  double scale, h, g;
  LADON_INLINE explicit Exponential(const double* f) : scale(f[0]), h(f[1]), g(f[2]) {}

  LADON_INLINE Pair values(double p, double q, double c) const {
    const double e = scale * exp(h * (p + q) + g * c);
    return {e, g * e};
  }
  LADON_INLINE Pair slopes(double p, double q, double c) const {
    const double e = scale * exp(h * (p + q) + g * c);
    return {g * e, h * e};
  }
  LADON_INLINE Pair curvatures(double p, double q, double c) const {
    const Pair e = slopes(p, q, c);
    return {g * e.first, g * e.second};
  }
};

/// How often E is differentiated with respect to c to give `first`, and with respect to c and to p
/// to give `second`. E' counts as one derivative with respect to c.
struct Derivatives {
  int first_by_c, second_by_c, second_by_p;
};

template <class Family, Pair (Family::*of)(double p, double q, double c) const>
void each_scaled(const double* f, const double* p, const double* q, const double* c, double* first,
                 double* second, Derivatives by) {
  constexpr int d = Family::degree;
  Family family(f);
  const Noise noise = family.added();
  for (int64_t k = 0; k < dual_block; ++k) {
    const int64_t i = scale_of(at_least(p[k], noise.u)), j = scale_of(at_least(q[k], noise.v));
    family.added() = noise.scaled(i, j);
    const Pair e = (family.*of)(scaled(p[k], i, -2, 0, 0), scaled(q[k], 0, 0, j, -2),
                                scaled(c[k], i, -1, j, -1));
    const int n = d - by.first_by_c, m = d - by.second_by_c;
    first[k] = scaled(e.first, i, n, j, n);
    second[k] = scaled(e.second, i, m - 2 * by.second_by_p, j, m);
  }
}

/// Applies a member function of a family (values, slopes or curvatures) to every entry of a block.
template <class Family, Pair (Family::*of)(double p, double q, double c) const>
void each(const double* f, const double* p, const double* q, const double* c, double* first,
          double* second) {
  if constexpr (requires { Family::degree; }) {
    bool usual = true;
#pragma omp simd reduction(&& : usual)
    for (int64_t i = 0; i < dual_block; ++i) usual = usual && moderate(p[i]) && moderate(q[i]);
    if (!usual) {
      constexpr Derivatives by = of == &Family::values   ? Derivatives{0, 1, 0}
                                 : of == &Family::slopes ? Derivatives{1, 0, 1}
                                                         : Derivatives{2, 1, 1};
      return each_scaled<Family, of>(f, p, q, c, first, second, by);
    }
  }
  const Family family(f);
#pragma omp simd
  for (int64_t i = 0; i < dual_block; ++i) {
    const Pair e = (family.*of)(p[i], q[i], c[i]);
    first[i] = e.first;
    second[i] = e.second;
  }
}

// --- polynomials: Horner's scheme in c, whose coefficients are products of polynomials in p and q

using Block = double[dual_block];

/// The polynomial with the n coefficients b in powers of x − centre, and its derivative, at each x.
LADON_INLINE void evaluate(const double* b, int64_t n, double centre, const double* x, Block& value,
                           Block& slope) {
  for (int64_t i = 0; i < dual_block; ++i) value[i] = b[n - 1], slope[i] = 0;
  for (int64_t j = n - 2; j >= 0; --j) {
    const double next = b[j];
#pragma omp simd
    for (int64_t i = 0; i < dual_block; ++i) {
      slope[i] = slope[i] * (x[i] - centre) + value[i];
      value[i] = value[i] * (x[i] - centre) + next;
    }
  }
}

/// E (value), ∂E/∂c, which is E' (by_c), ∂E/∂p (by_p), ½·∂E'/∂c (half_by_cc) and ∂E'/∂p (by_pc).
struct PolynomialDual {
  Block value = {}, by_c = {}, by_p = {}, half_by_cc = {}, by_pc = {};

  LADON_INLINE PolynomialDual(const double* f, const double* p, const double* q, const double* c) {
    const int64_t degree = static_cast<int64_t>(f[0]), row = degree / 2 + 1;
    Block at_p, at_q, slope_p, slope_q;
    for (int64_t k = degree; k >= 0; --k) {
      const int64_t n = (degree - k) / 2 + 1;
      evaluate(f + 2 + k * row, n, f[1], p, at_p, slope_p);
      evaluate(f + 2 + k * row, n, f[1], q, at_q, slope_q);
#pragma omp simd
      for (int64_t i = 0; i < dual_block; ++i) {
        half_by_cc[i] = half_by_cc[i] * c[i] + by_c[i];
        by_c[i] = by_c[i] * c[i] + value[i];
        value[i] = value[i] * c[i] + at_p[i] * at_q[i];
        by_pc[i] = by_pc[i] * c[i] + by_p[i];
        by_p[i] = by_p[i] * c[i] + slope_p[i] * at_q[i];
      }
    }
  }
};

void give(const Block& x, double factor, double* y) {
  for (int64_t i = 0; i < dual_block; ++i) y[i] = factor * x[i];
}

void polynomial_values(const double* f, const double* p, const double* q, const double* c,
                       double* value, double* derivative) {
  const PolynomialDual e(f, p, q, c);
  give(e.value, 1, value);
  give(e.by_c, 1, derivative);
}

void polynomial_slopes(const double* f, const double* p, const double* q, const double* c,
                       double* by_c, double* by_p) {
  const PolynomialDual e(f, p, q, c);
  give(e.by_c, 1, by_c);
  give(e.by_p, 1, by_p);
}

void polynomial_curvatures(const double* f, const double* p, const double* q, const double* c,
                           double* by_c, double* by_p) {
  const PolynomialDual e(f, p, q, c);
  give(e.half_by_cc, 2, by_c);
  give(e.by_pc, 1, by_p);
}

typedef double Eight __attribute__((vector_size(64), aligned(8), may_alias));

// Sums each entry's series: eight polynomials in ρ⁸, one per lane, then one polynomial in ρ over
// the lanes. Several entries are computed at once, since each step of a polynomial must wait for
// the step before.
void series(const double* const* a, const double* const* b, const double* rho, double* y,
            int64_t n) {
  constexpr int entries = static_cast<int>(dual_series_entries);
  Eight sum[entries], step[entries];
#pragma GCC unroll 8
  for (int e = 0; e < entries; ++e) {
    const double rho2 = rho[e] * rho[e], rho4 = rho2 * rho2;
    sum[e] = Eight{};
    step[e] = Eight{} + rho4 * rho4;
  }
  for (int64_t k = n - 8; k >= 0; k -= 8)
#pragma GCC unroll 8
    for (int e = 0; e < entries; ++e)
      sum[e] = sum[e] * step[e] + *reinterpret_cast<const Eight*>(a[e] + k) *
                                      *reinterpret_cast<const Eight*>(b[e] + k);
  double lanes[entries][8];
  __builtin_memcpy(lanes, sum, sizeof sum);
  for (int e = 0; e < entries; ++e) y[e] = lanes[e][7];
  for (int l = 6; l >= 0; --l)
    for (int e = 0; e < entries; ++e) y[e] = y[e] * rho[e] + lanes[e][l];
}

template <class Family>
void add(DualLoops& t, Dual family) {
  t.values[int(family)] = each<Family, &Family::values>;
  t.slopes[int(family)] = each<Family, &Family::slopes>;
  t.curvatures[int(family)] = each<Family, &Family::curvatures>;
}

}  // namespace

void add_duals(Loops& table) {
  DualLoops& t = table.dual;
  add<Rectifier>(t, Dual::rectifier);
  add<Threshold>(t, Dual::threshold);
  add<Erf>(t, Dual::erf);
  add<Gelu>(t, Dual::gelu);
  add<Sine>(t, Dual::sine);
  add<Exponential>(t, Dual::exponential);
  t.values[int(Dual::polynomial)] = polynomial_values;
  t.slopes[int(Dual::polynomial)] = polynomial_slopes;
  t.curvatures[int(Dual::polynomial)] = polynomial_curvatures;
  t.series = series;
}

}  // namespace ladon::kernels::LADON_LEVEL
