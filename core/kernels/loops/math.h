#pragma once
// Elementary functions without branches or calls, so that a loop over them becomes vector code.
//
// Nothing of the standard library is used here: one of its inline functions, compiled for AVX-512
// and merged by the linker, could end up in code that runs on a machine without AVX-512. For the
// same reason everything is in a namespace per instruction level.
//
// The polynomials are minimax fits (Remez exchange in 50 digits) of the function that the comment
// above them names, weighted for its relative error. Measured errors are in
// tests/core/kernels/loops_test.cpp.

#include <cstdint>

#define LADON_INLINE [[gnu::always_inline]] inline

namespace ladon::kernels::LADON_LEVEL {

template <class T>
struct Format;
template <>
struct Format<float> {
  using Word = std::uint32_t;
  static constexpr int mantissa = 23;
  static constexpr Word bias = 127;
  static constexpr float magic = 0x1.8p23f;  // x + magic − magic rounds x to an integer
  static constexpr float least_normal = 0x1p-126f;
  static constexpr float ln2_high = 0x1.63p-1f, ln2_low = -0x1.bd0106p-13f;
  static constexpr float exp_lowest = -112, exp_highest = 89;  // below, exp(x) and x·exp(x) are 0;
                                                               // above, exp(x) is ∞
  static constexpr float expm1_lowest = -20;
  static constexpr Word upper_half = 0xfffff000;  // keeps 12 bits: their square is exact
};
template <>
struct Format<double> {
  using Word = std::uint64_t;
  static constexpr int mantissa = 52;
  static constexpr Word bias = 1023;
  static constexpr double magic = 0x1.8p52;
  static constexpr double least_normal = 0x1p-1022;
  static constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double exp_lowest = -760, exp_highest = 710;
  static constexpr double expm1_lowest = -40;
  static constexpr Word upper_half = 0xfffffffff8000000;
};
template <class T>
using Word = typename Format<T>::Word;

template <class T>
LADON_INLINE Word<T> bits(T x) {
  return __builtin_bit_cast(Word<T>, x);
}
template <class T>
LADON_INLINE T from_bits(Word<T> w) {
  return __builtin_bit_cast(T, w);
}

LADON_INLINE float abs(float x) { return __builtin_fabsf(x); }
LADON_INLINE double abs(double x) { return __builtin_fabs(x); }
LADON_INLINE float copysign(float x, float sign) { return __builtin_copysignf(x, sign); }
LADON_INLINE double copysign(double x, double sign) { return __builtin_copysign(x, sign); }
LADON_INLINE float floor(float x) { return __builtin_floorf(x); }
LADON_INLINE double floor(double x) { return __builtin_floor(x); }
LADON_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
LADON_INLINE double sqrt(double x) { return __builtin_sqrt(x); }

template <class T>
constexpr T infinity = static_cast<T>(__builtin_inf());
template <class T>
constexpr T nan = static_cast<T>(__builtin_nan(""));

/// The larger of x and `low`; NaN if x is NaN. at_most() is the smaller of x and `high`.
template <class T>
LADON_INLINE T at_least(T x, T low) {
  return x < low ? low : x;
}
template <class T>
LADON_INLINE T at_most(T x, T high) {
  return x > high ? high : x;
}

/// c0 + c1 x + c2 x² + …
template <class T>
LADON_INLINE T polynomial(T, T c) {
  return c;
}
template <class T, class... More>
LADON_INLINE T polynomial(T x, T c, T next, More... more) {
  return c + x * polynomial(x, next, more...);
}

/// The polynomial q(r) in exp(r) = 1 + r + r²·q(r), |r| ≤ ln2/2.
LADON_INLINE float exp_tail(float r) {
  return polynomial(r, 0x1.fffffep-2f, 0x1.5554bp-3f, 0x1.555664p-5f, 0x1.1227dap-7f,
                    0x1.6bfe0cp-10f);
}
LADON_INLINE double exp_tail(double r) {
  return polynomial(r, 0x1p-1, 0x1.5555555555559p-3, 0x1.555555555554p-5, 0x1.111111110f6b4p-7,
                    0x1.6c16c16c1e64p-10, 0x1.a01a01afe52cfp-13, 0x1.a01a017f70f99p-16,
                    0x1.71ddf84e607a2p-19, 0x1.27e52d4a09f8bp-22, 0x1.af5ed0ee9a006p-26,
                    0x1.1ef7d3d51156ep-29);
}

/// A number k·ln2 + r with |r| ≤ ln2/2. r is stored as high − low; `high` is exact and `low` is
/// small.
template <class T>
struct Split {
  T high, low;
  Word<T> k;  // two's complement
  /// exp(r) − 1.
  LADON_INLINE T expm1() const {
    const T r = high - low;
    return high + (r * r * exp_tail(r) - low);
  }
};
template <class T>
LADON_INLINE Split<T> split_exponent(T high, T low) {
  using F = Format<T>;
  const T shifted = high * static_cast<T>(0x1.71547652b82fep+0) + F::magic;
  const T k = shifted - F::magic;
  return {high - k * F::ln2_high, k * F::ln2_low - low, bits(shifted) - bits(F::magic)};
}

/// A number as high + low with |low| ≪ |high|; `low` is the part lost by rounding to `high`.
template <class T>
struct Pair {
  T high, low;
};

LADON_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LADON_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// a·b + c, accurate even if a·b and c cancel.
template <class T>
LADON_INLINE T left_over(T a, T b, T c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return fused(a, b, c);
#else
  const T ah = from_bits<T>(bits(a) & Format<T>::upper_half), al = a - ah;
  const T bh = from_bits<T>(bits(b) & Format<T>::upper_half), bl = b - bh;
  return ((ah * bh + c) + (ah * bl + al * bh)) + al * bl;
#endif
}
template <class T>
LADON_INLINE Pair<T> exact_product(T a, T b) {
  const T product = a * b;
  return {product, left_over(a, b, -product)};
}

/// An exponential y·2^k with 2^k = first·second: multiplying by 2^k in two steps rounds results
/// below the normal range only once.
template <class T>
struct Power {
  T y, first, second;
  /// f times the exponential, accurate where the product is normal, even if the exponential is not.
  LADON_INLINE T times(T f) const { return f * y * first * second; }
};
/// exp(x.high + x.low), for x.high in [exp_lowest, exp_highest].
template <class T>
LADON_INLINE Power<T> power(Pair<T> x) {
  using F = Format<T>;
  const Split<T> s = split_exponent(x.high, x.low);
  const Word<T> biased = s.k + 2 * F::bias, half = biased >> 1;
  return {T(1) + s.expm1(), from_bits<T>(half << F::mantissa),
          from_bits<T>((biased - half) << F::mantissa)};
}
/// exp(x.high + x.low), for x.high ≤ 0, where the second factor can be a constant.
template <class T>
LADON_INLINE Power<T> power_below(Pair<T> x) {
  using F = Format<T>;
  const Split<T> s = split_exponent(x.high, x.low);
  return {T(1) + s.expm1(), from_bits<T>((s.k + F::bias + 100) << F::mantissa), T(0x1p-100)};
}
template <class T>
LADON_INLINE T exp(T x) {
  using F = Format<T>;
  return power(Pair<T>{at_most(at_least(x, F::exp_lowest), F::exp_highest), T(0)}).times(T(1));
}

/// exp(x) for x ≤ 0.
template <class T>
LADON_INLINE T exp_below(T x) {
  return power_below(Pair<T>{at_least(x, Format<T>::exp_lowest), T(0)}).times(T(1));
}
/// exp(x) for x such that the result is normal and at most half of the largest number: a single
/// factor 2^k is then enough.
template <class T>
LADON_INLINE T exp_within(T x) {
  using F = Format<T>;
  const Split<T> s = split_exponent(x, T(0));
  return (T(1) + s.expm1()) * from_bits<T>((s.k + F::bias) << F::mantissa);
}
/// exp(x) for x ≤ 0, or 0 if exp(x) is below the normal numbers.
template <class T>
LADON_INLINE T exp_below_flushed(T x) {
  constexpr T lowest = -static_cast<T>(Format<T>::bias) * static_cast<T>(0x1.62e42fefa39efp-1);
  return exp_within(at_least(x, lowest));
}

/// exp(x) − 1 = 2^k·(e^r − 1) + (2^k − 1); half of it is computed first, so that 2^k does not
/// overflow before the result does.
template <class T>
LADON_INLINE T expm1(T x) {
  using F = Format<T>;
  const T clamped = at_most(at_least(x, F::expm1_lowest), F::exp_highest);
  const Split<T> s = split_exponent(clamped, T(0));
  const T y = s.expm1();
  const T half = from_bits<T>((s.k + F::bias - 1) << F::mantissa);
  const T result = T(2) * (half * y + (half - T(0.5)));
  return x == T(0) ? x : s.k == 0 ? y : result;
}

/// (2·atanh(s)/s − 2)/z at z = s², for |s| ≤ (√2−1)/(√2+1).
LADON_INLINE float atanh_tail(float z) {
  return polynomial(z, 0x1.55557ap-1f, 0x1.995eb6p-2f, 0x1.31e352p-2f);
}
LADON_INLINE double atanh_tail(double z) {
  return polynomial(z, 0x1.5555555555592p-1, 0x1.999999997fd85p-2, 0x1.24924941f4296p-2,
                    0x1.c71c5206bc6e3p-3, 0x1.74663f7b5da8ap-3, 0x1.39a1ab08efeeep-3,
                    0x1.2f060a12b5425p-3);
}

/// A positive normal number as 2^k·m with m in [√½, √2).
template <class T>
struct Parts {
  T k, m;
};
template <class T>
LADON_INLINE Parts<T> split_mantissa(T x) {
  using F = Format<T>;
  constexpr Word<T> one = Word<T>(1) << F::mantissa;
  const Word<T> root_half = bits(static_cast<T>(0x1.6a09e667f3bcdp-1));
  const Word<T> w = bits(x) - root_half + F::bias * one;
  const Word<T> k = (w >> F::mantissa) - F::bias;
  return {from_bits<T>(bits(F::magic) + k) - F::magic, from_bits<T>((w & (one - 1)) + root_half)};
}

/// k·ln2 + log(1 + f) + c, |c| tiny. With s = f/(2+f): log(1+f) = 2·atanh(s), written so that f
/// itself is the leading term (the arrangement of FreeBSD's msun).
template <class T>
LADON_INLINE T log_of_parts(T k, T f, T c) {
  const T s = f / (T(2) + f), z = s * s, h = T(0.5) * f * f;
  const T tail = s * (h + z * atanh_tail(z)) + (k * Format<T>::ln2_low + c);
  return k * Format<T>::ln2_high - ((h - tail) - f);
}

/// log(x) of a finite float above 0, in double, with relative error 2⁻³⁷.
LADON_INLINE double log_in_double(float x) {
  const Parts<double> p = split_mantissa(static_cast<double>(x));
  const double f = p.m - 1, s = f / (2 + f), z = s * s;
  const double tail = polynomial(z, 0x1.555554fdd9b9fp-1, 0x1.999a7a2bc8b44p-2, 0x1.2438ecaa9a09p-2,
                                 0x1.e2f3922f7dcc7p-3);
  return p.k * 0x1.62e42fefa39efp-1 + s * (2 + z * tail);
}

template <class T>
LADON_INLINE T log(T x) {
  using F = Format<T>;
  constexpr T up = static_cast<T>(Word<T>(1) << F::mantissa);
  const bool tiny = x < F::least_normal;
  const Parts<T> p = split_mantissa(tiny ? x * up : x);
  const T y = log_of_parts(p.k - (tiny ? T(F::mantissa) : T(0)), p.m - T(1), T(0));
  const T finite = x > T(0) ? y : x == T(0) ? -infinity<T> : nan<T>;
  return x == infinity<T> ? x : finite;
}

/// log(1 + x) for finite x > −1, and NaN for NaN. `lost` is the rounding error of 1 + x.
template <class T>
LADON_INLINE T log1p_finite(T x) {
  const T u = T(1) + x;
  const T lost = x < T(1) ? x - (u - T(1)) : T(1) - (u - x);
  const Parts<T> p = split_mantissa(u);
  const bool near_one = p.k == T(0);
  return log_of_parts(p.k, near_one ? x : p.m - T(1), near_one ? T(0) : lost / u);
}

template <class T>
LADON_INLINE T log1p(T x) {
  const T y = log1p_finite(x);
  const T finite = x > T(-1) ? y : x == T(-1) ? -infinity<T> : nan<T>;
  return ((x == infinity<T>) | (x == T(0))) ? x : finite;
}

/// (tanh(x)/x − 1)/z at z = x², for |x| ≤ 0.625.
LADON_INLINE float tanh_tail(float z) {
  return polynomial(z, -0x1.555554p-2f, 0x1.111066p-3f, -0x1.b9ee6ap-5f, 0x1.6389a2p-6f,
                    -0x1.0bec32p-7f, 0x1.18c096p-9f);
}
LADON_INLINE double tanh_tail(double z) {
  return polynomial(z, -0x1.5555555555552p-2, 0x1.1111111110bf7p-3, -0x1.ba1ba1b9cdbc1p-5,
                    0x1.664f487012f07p-6, -0x1.226e32bcac3b2p-7, 0x1.d6d3579ab1e3p-9,
                    -0x1.7d9c143fc1451p-10, 0x1.350a933809fc1p-11, -0x1.f1093d430064bp-13,
                    0x1.7ff9b6464bf26p-14, -0x1.fa426c8960bdbp-16, 0x1.95263f307886fp-18);
}
template <class T>
LADON_INLINE T tanh(T x) {
  const T a = abs(x), z = a * a;
  const T small = a + a * (z * tanh_tail(z));
  const T large = T(1) - T(2) / (exp(T(2) * a) + T(1));
  return copysign(a < T(0.625) ? small : large, x);
}

/// 1/(1+e^−x), from e^−|x| for both signs, so that nothing overflows.
template <class T>
LADON_INLINE T sigmoid(T x) {
  const T e = exp_below(-abs(x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

template <class T>
LADON_INLINE T softplus(T x) {
  return (x > T(0) ? x : T(0)) + log1p_finite(exp_below(-abs(x)));
}

/// erfc(a) for a ≥ 0.9, fitted to minimize the error of erf(a). −log erfc(a) is a polynomial up to
/// a = 3.95; above that, erf(a) rounds to 1. (The polynomial is evaluated in pairs of terms, which
/// are independent of each other.)
LADON_INLINE float erfc_above(float a) {
  const float x = at_most(a, 3.95f);
  return exp_within(-polynomial(x * x, 0x1.5d8ae2p-13f + 0x1.20b742p+0f * x,
                                0x1.4621fp-1f + 0x1.aa71a4p-4f * x,
                                -0x1.6d99e8p-6f + 0x1.91c6c6p-9f * x, -0x1.9fa7f6p-13f));
}
/// exp(z²)·erfc(z) for z ≥ 0.9: a polynomial in t = 1/(1 + z/2), centred at the middle of the range
/// of t, and fitted to minimize the error of erf(z).
LADON_INLINE double scaled_erfc(double z) {
  const double t = 1 / (1 + 0.5 * z);
  return t * polynomial(2 * t - 0.94, 0x1.f673a4057b6bp-2, 0x1.4eddc674b2ed4p-2,
                        0x1.170064f58d103p-3, 0x1.52cf4387f8cedp-6, -0x1.3df69adaa6bb7p-7,
                        -0x1.ecde3521d61cep-9, 0x1.5e5e961452d59p-10, 0x1.2cc702ea61b2ep-11,
                        -0x1.4503402d304bbp-12, -0x1.10b085e43f42ep-14, 0x1.6f17a2a2a152bp-14,
                        -0x1.6f87fbaf1017fp-16, -0x1.08c54d2b70e68p-21);
}
LADON_INLINE double erfc_above(double a) { return exp_below_flushed(-a * a) * scaled_erfc(a); }

/// erf(x)/x − 1 at z = x², for |x| ≤ 0.9.
LADON_INLINE float erf_tail(float z) {
  return polynomial(z, 0x1.06eba8p-3f, -0x1.812744p-2f, 0x1.ce2e24p-4f, -0x1.b810e8p-6f,
                    0x1.54df1ap-8f, -0x1.ab106p-11f, 0x1.5f954ep-14f);
}
LADON_INLINE double erf_tail(double z) {
  return polynomial(z, 0x1.06eba8214db69p-3, -0x1.812746b0379e2p-2, 0x1.ce2f21a0427e1p-4,
                    -0x1.b82ce31271dd3p-6, 0x1.565bcd0a31be1p-8, -0x1.c02db3140c751p-11,
                    0x1.f9a30627f1ca8p-14, -0x1.f4cf5938b577fp-17, 0x1.b9b75e79c0594p-20,
                    -0x1.5d83603f28f42p-23, 0x1.e29e569ac4f9ep-27, -0x1.d24b6e0e6e78fp-31);
}
template <class T>
LADON_INLINE T erf(T x) {
  const T a = abs(x), z = a * a;
  const T small = a + a * erf_tail(z);
  const T large = T(1) - erfc_above(a);
  return copysign(a < T(0.9) ? small : large, x);
}

/// The largest |x| for which `sine` is accurate.
template <class T>
constexpr T sine_limit = T(1e5);

/// sin(r + q·π/2) from s = sin r and c = cos r: c if q is odd, else s, with the sign changed if the
/// second bit of q is set.
template <class T>
LADON_INLINE T in_quarter(Word<T> q, T s, T c) {
  const T y = (q & 1) != 0 ? c : s;
  return from_bits<T>(bits(y) ^ ((q & 2) << (8 * sizeof(T) - 2)));
}

/// sin(x + quarter·π/2) for |x| ≤ sine_limit, computed in double: x = k·π/2 + r, |r| ≤ π/4. Has the
/// same bits at every instruction-set level.
LADON_INLINE float sine_in_double(float x, std::uint64_t quarter) {
  using F = Format<double>;
  const double shifted = x * 0x1.45f306dc9c883p-1 + F::magic;
  const double k = shifted - F::magic;
  const double r = (x - k * 0x1.921fb54p+0) - k * 0x1.10b4611a62633p-30, z = r * r;
  const double s = r * (1 + z * polynomial(z, -0x1.5555554cb21d8p-3, 0x1.1111089087cc9p-7,
                                           -0x1.a00f98f17260ap-13, 0x1.6cd735ba86435p-19));
  const double c = 1 - 0.5 * z +
                   z * z *
                       polynomial(z, 0x1.5555554ed25e9p-5, -0x1.6c16b822ef9dcp-10,
                                  0x1.a010da436d2ddp-16, -0x1.241daf254f87fp-22);
  return static_cast<float>(in_quarter(bits(shifted) + quarter, s, c));
}

/// sin(x + quarter·π/2) for |x| ≤ sine_limit. With fused multiply-adds, in which the reduction
/// r = x − k·π/2 loses no digits, it is computed in single precision, with r as a pair; without
/// them, by sine_in_double().
LADON_INLINE float sine(float x, Word<float> quarter) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  using F = Format<float>;
  const float shifted = fused(x, 0x1.45f306p-1f, F::magic), k = shifted - F::magic;
  const float first = fused(k, -0x1.921fb6p+0f, x), r = fused(k, 0x1.777a5cp-25f, first);
  const float low = fused(k, 0x1.ee59dap-50f, fused(k, 0x1.777a5cp-25f, first - r));
  const float z = r * r, h = 0.5f * r, w = fused(-h, r, 1.0f);
  const float s =
      r + fused(r * z, polynomial(z, -0x1.555544p-3f, 0x1.1106aap-7f, -0x1.9912bp-13f), low);
  const float c = w + fused(z * z, polynomial(z, 0x1.55554ap-5f, -0x1.6c0b98p-10f, 0x1.99becep-16f),
                            fused(-h, r, 1.0f - w) - r * low);
  const float y = in_quarter(bits(shifted) + quarter, s, c);
  return ((quarter == 0) & (x == 0)) ? x : y;  // keeps the sign of −0
#else
  return sine_in_double(x, quarter);
#endif
}

/// sin(x + quarter·π/2) for |x| ≤ sine_limit, in double precision. π/2 is split into pieces of
/// 37 bits, whose products with k ≤ 2¹⁶ are exact.
LADON_INLINE double sine(double x, std::uint64_t quarter) {
  using F = Format<double>;
  const double shifted = x * 0x1.45f306dc9c883p-1 + F::magic;
  const double k = shifted - F::magic;
  const double first = x - k * 0x1.921fb5444p+0, second = k * 0x1.68c234c4cp-39;
  const double r = first - second, low = ((first - r) - second) - k * 0x1.98a2e03707345p-77;
  const double z = r * r, h = 0.5 * z, w = 1 - h;
  const double s = r + (r * (z * polynomial(z, -0x1.5555555555548p-3, 0x1.111111110f7cdp-7,
                                            -0x1.a01a019bfd842p-13, 0x1.71de356773704p-19,
                                            -0x1.ae5e5a44106bep-26, 0x1.5d8fba8cddd2dp-33)) +
                        low * w);
  const double c =
      w + (((1 - w) - h) + (z * (z * polynomial(z, 0x1.555555555554bp-5, -0x1.6c16c16c14f8ep-10,
                                                0x1.a01a019c83f03p-16, -0x1.27e4f7ea7e2c7p-22,
                                                0x1.1ee9d783bc523p-29, -0x1.8fa47ffbf2336p-37)) -
                            r * low));
  const double y = in_quarter(bits(shifted) + quarter, s, c);
  return ((quarter == 0) & (x == 0)) ? x : y;  // keeps the sign of −0
}
LADON_INLINE double sine_in_double(double x, std::uint64_t quarter) { return sine(x, quarter); }

}  // namespace ladon::kernels::LADON_LEVEL
