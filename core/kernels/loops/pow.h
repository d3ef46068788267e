#pragma once
// Powers, without branches (see math.h).

#include "ladon/core/kernels/loops/math.h"

namespace ladon::kernels::LADON_LEVEL {

/// (2·atanh(s)/s − 2 − 2/3·z)/z² at z = s², for the range of s of atanh_tail; accurate to 73 bits
/// of 2·atanh(s)/s.
LADON_INLINE double atanh_rest(double z) {
  return polynomial(z, 0x1.9999999999996p-2, 0x1.249249249302ep-2, 0x1.c71c71c5811d2p-3,
                    0x1.745d183203329p-3, 0x1.3b1362c9a150dp-3, 0x1.1120b2e5b1816p-3,
                    0x1.de33d82cb5c9ap-4, 0x1.eb0dfac3517d8p-4);
}

/// a·b with twice the digits of a double.
LADON_INLINE Pair<double> product(Pair<double> a, Pair<double> b) {
  const double high = a.high * b.high;
  return {high, left_over(a.high, b.high, -high) + (a.high * b.low + a.low * b.high)};
}

/// a + b for |a| ≥ |b| or a = 0: the rounded sum and its exact rounding error.
LADON_INLINE Pair<double> exact_sum(double a, double b) {
  const double sum = a + b;
  return {sum, (a - sum) + b};
}

/// log(x) for 0 < x < ∞, accurate to 64 bits, as k·ln2 + log(m), where x = 2^k·m as in log(). Let
/// f = m − 1, s = f/(2 + f) and z = s². Then log(m) = 2s + s³·(2/3 + z·atanh_rest(z)); s and z are
/// kept as sums of two doubles (Pair).
LADON_INLINE Pair<double> log_pair(double x) {
  using F = Format<double>;
  const bool tiny = x < F::least_normal;
  const Parts<double> p = split_mantissa(tiny ? x * 0x1p52 : x);
  const double k = p.k - (tiny ? 52.0 : 0.0);
  const double f = p.m - 1;
  const Pair<double> below = exact_sum(2, f);
  const double inverse = 1 / below.high, quotient = f * inverse;
  const double rest = left_over(-quotient, below.high, f) - quotient * below.low;
  const Pair<double> s{quotient, rest * inverse}, z = product(s, s);
  const Pair<double> thirds = exact_sum(0x1.5555555555555p-1, z.high * atanh_rest(z.high));
  const Pair<double> cubic =
      product(product(s, z), {thirds.high, thirds.low + 0x1.5555555555555p-55});
  const Pair<double> linear = exact_sum(k * F::ln2_high, 2 * s.high);
  const Pair<double> whole = exact_sum(linear.high, cubic.high);
  return exact_sum(whole.high,
                   whole.low + (linear.low + (k * F::ln2_low + (2 * s.low + cubic.low))));
}

/// The logarithm of a ≥ 0, given its value `log` for finite a > 0: −∞ for a = 0, and a itself for ∞
/// and NaN.
LADON_INLINE double with_ends(double log, double a) {
  return a < infinity<double> ? (a == 0 ? -infinity<double> : log) : a;
}

/// a^y for a ≥ 0 and |y| ≤ 2⁶⁵: exp(y·log(a)), where an error of the argument is the relative error
/// of the result.
LADON_INLINE double raised(double a, double y) {
  using F = Format<double>;
  const Pair<double> log = log_pair(a);
  const double x = y * with_ends(log.high, a);
  const double low = left_over(y, log.high, -x) + y * log.low;
  const double within = at_most(at_least(x, F::exp_lowest), F::exp_highest);
  return power(Pair<double>{within, within == x ? low : 0.0}).times(1);
}
/// a^y for floats, computed in double; the polynomial of the exponential has only the terms that
/// floats need (error 2⁻³⁴).
LADON_INLINE float raised(float a, float y) {
  using F = Format<double>;
  const double x = at_most(at_least(y * with_ends(log_in_double(a), a), -200.0), 200.0);
  const Split<double> e = split_exponent(x, 0.0);
  const double r = e.high - e.low;
  const double rest =
      polynomial(r, 0x1.0000003a23722p-1, 0x1.555554433c114p-3, 0x1.55548dc49f1f1p-5,
                 0x1.111270b30c0b2p-7, 0x1.6d8d06cfd5e27p-10, 0x1.9f089615021b1p-13);
  return static_cast<float>((1 + (r + r * r * rest)) *
                            from_bits<double>((e.k + F::bias) << F::mantissa));
}

/// x^y with the special values of the C standard (annex F): a power of |x|, negative if x is
/// negative and y is odd. For |y| ≥ 2⁶⁵ the result no longer depends on the size of y.
template <class T>
LADON_INLINE T pow(T x, T y) {
  const T half = T(0.5) * y;
  const bool integer = floor(y) == y, odd = integer & (floor(half) != half);
  const T size = raised(abs(x), at_most(at_least(y, T(-0x1p65)), T(0x1p65)));
  const bool undefined = (x < T(0)) & (x > -infinity<T>)&!integer;
  const T value = undefined ? nan<T> : odd ? copysign(size, x) : size;
  return ((x == T(1)) | (y == T(0))) ? T(1) : value;
}

}  // namespace ladon::kernels::LADON_LEVEL
