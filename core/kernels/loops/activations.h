#pragma once
// Activation functions, without branches (see math.h). Their relative error is small wherever their
// values are normal floating-point numbers, including x far below 0, where the values tend to 0.

#include "ladon/core/kernels/loops/math.h"

namespace ladon::kernels::LADON_LEVEL {

/// σ(x)·σ(−x), the derivative of the sigmoid σ, computed from e^−|x|, since 1 − σ loses digits
/// where σ is near 1.
template <class T>
LADON_INLINE T sigmoid_slope(T x) {
  const T e = exp_below(-abs(x)), share = T(1) / (T(1) + e);
  return e * share * share;
}
/// The derivative of tanh: 1 − tanh(x)² = 4·σ(2x)·σ(−2x).
template <class T>
LADON_INLINE T tanh_slope(T x) {
  return T(4) * sigmoid_slope(T(2) * x);
}

/// A quotient, kept as numerator and denominator until it is multiplied by another number.
template <class T>
struct Ratio {
  T above, below;
};
/// Φ(−a)·exp(a²/2) for a ≥ 0, with Φ the standard normal distribution function, by rational
/// functions: least-squares fits, reweighted to minimize the largest relative error (f32: 2^−27 for
/// a up to 15; f64: 2^−60 for a up to 39). All coefficients are positive, so that nothing cancels.
LADON_INLINE Ratio<float> scaled_tail(float a) {
  return {polynomial(a, 0x1p-1f, 0x1.c1d2c8p-2f, 0x1.78c3c8p-3f, 0x1.4ee4ap-5f, 0x1.102e48p-8f),
          polynomial(a, 0x1p+0f, 0x1.ad2b94p+0f, 0x1.349e42p+0f, 0x1.e2b79ep-2f, 0x1.a3c054p-4f,
                     0x1.551fd6p-7f)};
}
LADON_INLINE Ratio<double> scaled_tail(double a) {
  return {polynomial(a, 0x1p-1, 0x1.a7e5e1de6b0a2p-1, 0x1.5bf603462287ap-1, 0x1.6dec6c32878d9p-2,
                     0x1.0e6ef47915067p-3, 0x1.2431f1e99c0acp-5, 0x1.d2d06cbe5921fp-8,
                     0x1.108fce63879d7p-10, 0x1.bf02a4df9ede9p-14, 0x1.d4299be5b6b8cp-18,
                     0x1.e1717f69af9d4p-23),
          polynomial(a, 0x1p+0, 0x1.3a1405be865e6p+1, 0x1.68942270331d3p+1, 0x1.002f5b5e96bc6p+1,
                     0x1.f5d0811ab18c1p-1, 0x1.64ae1023d251cp-2, 0x1.78be81d4cf41ep-4,
                     0x1.28e41130f5a9fp-6, 0x1.57e5c253d0d6cp-9, 0x1.18b620e6ee5e6p-12,
                     0x1.25609ac9a75dep-16, 0x1.2db32b400f0a4p-21)};
}

/// exp(−a²/2), accurate in the tail too.
template <class T>
LADON_INLINE Power<T> gaussian(T a) {
  return power_below(exact_product(T(-0.5) * a, a));
}

// The activations tend to 0 at −∞ and to x at +∞. Beyond these bounds the factor of x has reached 0
// or 1, and x is clamped, so that ∞·0 does not arise. For x far below 0 the factor leaves the range
// of normal numbers before the product does, so powers of two are multiplied last.
template <class T>
constexpr T gelu_bound = sizeof(T) == 4 ? T(14.9) : T(38.9);
template <class T>
constexpr T gelu_tanh_bound = sizeof(T) == 4 ? T(10.9) : T(21.7);

/// exp(x.high + x.low) for any x ≤ 0.
template <class T>
LADON_INLINE T power_of_negative(Pair<T> x) {
  const T within = at_least(x.high, Format<T>::exp_lowest);
  return power_below(Pair<T>{within, within == x.high ? x.low : T(0)}).times(T(1));
}

/// Φ(x), the standard normal distribution function.
template <class T>
LADON_INLINE T normal_cdf(T x) {
  const T a = at_most(abs(x), gelu_bound<T>);
  const Ratio<T> tail = scaled_tail(a);
  const T below = gaussian(a).times(tail.above / tail.below);
  return x < T(0) ? below : T(1) - below;
}

/// x·Φ(x) = max(x, 0) − |x|·Φ(−|x|).
template <class T>
LADON_INLINE T gelu(T x) {
  const T a = at_most(abs(x), gelu_bound<T>);
  const Ratio<T> tail = scaled_tail(a);
  return at_least(x, T(0)) - gaussian(a).times(a * tail.above / tail.below);
}

/// Φ(x) + x·φ(x), where φ(x) = exp(−x²/2)/√(2π) is the standard normal density. Let a = |x| and
/// d = Φ(−a) − a·φ(a); the result is d for x < 0 and 1 − d for x ≥ 0.
template <class T>
LADON_INLINE T gelu_derivative(T x) {
  const T a = at_most(abs(x), gelu_bound<T>);
  const Ratio<T> tail = scaled_tail(a);
  const T d = gaussian(a).times(tail.above / tail.below - static_cast<T>(0.39894228040143268) * a);
  return x < T(0) ? d : T(1) - d;
}

/// sigmoid(v) = 1/(1+e^−v) as ratio·power, where power is a power of two; and rest = 1/(1+e^v).
template <class T>
struct Sigmoid {
  T ratio, power, rest;
};
/// Sigmoid of v, which is given by `minus` = −|v| ≤ 0 and by `below`, which says whether v = minus
/// or v = −minus.
template <class T>
LADON_INLINE Sigmoid<T> sigmoid(Pair<T> minus, bool below) {
  const Power<T> e = power_below(minus);
  const T whole = e.times(T(1)), sum = T(1) + whole;
  return {(below ? e.y * e.first : T(1)) / sum, below ? e.second : T(1),
          (below ? T(1) : whole) / sum};
}

template <class T>
LADON_INLINE T silu(T x) {
  const T lowest = Format<T>::exp_lowest;
  const Sigmoid<T> s = sigmoid(Pair<T>{at_least(-abs(x), lowest), T(0)}, x < T(0));
  return at_least(x, lowest) * s.ratio * s.power;
}

/// σ + x·σ·(1 − σ) with σ = sigmoid(x), the derivative of silu.
template <class T>
LADON_INLINE T silu_derivative(T x) {
  const T a = at_most(abs(x), -Format<T>::exp_lowest), c = x < T(0) ? -a : a;
  const Sigmoid<T> s = sigmoid(Pair<T>{-a, T(0)}, x < T(0));
  return s.ratio * (T(1) + c * s.rest) * s.power;
}

// gelu_tanh(x) = x/2·(1 + tanh(v/2)) = x·sigmoid(v) with v = s·(x + 0.044715 x³), s = √(8/π). In
// the tail this is x·e^v, so an error of v becomes the relative error of the result. Therefore v is
// a pair, computed from s and 0.044715·s with twice the digits. `brief` is s with so few digits
// that brief − z is exact for z ≈ v/x.
constexpr double gelu_slope = 1.5957691216057308, gelu_cubic = 0.044715;

template <class T>
LADON_INLINE Pair<T> gelu_argument(T x) {
  constexpr T brief = 0x1.988p+0, brief_low = T(0x1.14cf50d942344p-14);
  constexpr double whole_cubic = 0x1.2444f2a4d8b4bp-4;
  constexpr T cubic = T(whole_cubic),
              cubic_low = T(whole_cubic - double(cubic) - 0x1.3023b0e5fbc6ep-58);
  const Pair<T> square = exact_product(x, x);
  const T z = brief + cubic * square.high;
  const T z_low = left_over(cubic, square.high, brief - z) +
                  (cubic * square.low + (cubic_low * square.high + brief_low));
  const Pair<T> v = exact_product(x, z);
  return {v.high, v.low + x * z_low};
}

template <class T>
LADON_INLINE T gelu_tanh(T x) {
  const T a = at_most(abs(x), gelu_tanh_bound<T>);
  const Sigmoid<T> s = sigmoid(gelu_argument(-a), x < T(0));
  return at_least(x, -gelu_tanh_bound<T>) * s.ratio * s.power;
}

/// sigmoid(v), the factor of x in gelu_tanh.
template <class T>
LADON_INLINE T gelu_tanh_gate(T x) {
  const T a = at_most(abs(x), gelu_tanh_bound<T>);
  const Sigmoid<T> s = sigmoid(gelu_argument(-a), x < T(0));
  return s.ratio * s.power;
}

/// Derivative of x·s with s = sigmoid(v), v as in gelu_tanh: s + x·s·(1 − s)·v'.
template <class T>
LADON_INLINE T gelu_tanh_derivative(T x) {
  const T a = at_most(abs(x), gelu_tanh_bound<T>), c = x < T(0) ? -a : a;
  const T slope = T(gelu_slope) * (T(1) + T(3 * gelu_cubic) * a * a);
  const Sigmoid<T> s = sigmoid(gelu_argument(-a), x < T(0));
  return s.ratio * (T(1) + c * s.rest * slope) * s.power;
}

}  // namespace ladon::kernels::LADON_LEVEL
