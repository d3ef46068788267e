#pragma once
// Activations of networks, without branches (see math.h), relatively accurate wherever their values
// are normal numbers: also far below 0, where they vanish.

#include "ladon/core/kernels/loops/math.h"

namespace ladon::kernels::LADON_LEVEL {

/// exp(low − a²/2) for a tiny `low`, accurate in the tail: a² is taken as h² + (a−h)(a+h) with h²
/// exact.
template <class T>
LADON_INLINE Power<T> gaussian(T a, T low) {
  const T h = from_bits<T>(bits(a) & Format<T>::upper_half);
  return power_below(Pair<T>{T(-0.5) * (h * h), low - T(0.5) * ((a - h) * (a + h))});
}

/// Φ(−a)·exp(a²/2)/t for a ≥ 0, with t = 1/(1 + a/2) and Φ the standard normal distribution
/// function. Fits of least squares, weighted by their relative error.
LADON_INLINE float tail_of(float t) {
  return polynomial(2.0f * t - 0.75f, 0x1.2f105ap-2f, 0x1.3dbd04p-3f, 0x1.c2b41p-6f,
                    -0x1.02c74ap-6f, -0x1.48f52ep-8f, 0x1.0041bep-8f, 0x1.0bc222p-11f,
                    -0x1.3f0702p-10f, 0x1.d29408p-13f, 0x1.17ae56p-12f, -0x1.19abfcp-13f,
                    -0x1.c0d8f8p-18f, 0x1.7d91f8p-17f);
}
LADON_INLINE double tail_of(double t) {
  return polynomial(
      2.0 * t - 0.5, 0x1.095608c7b15f1p-2, 0x1.1c4ae5bde5bbap-3, 0x1.2e6d04708a9c7p-5,
      -0x1.1bd034f7f0ab9p-7, -0x1.1e82e151978acp-7, 0x1.885c1ee391664p-10, 0x1.5573c3f425417p-9,
      -0x1.8e948fd4405a0p-11, -0x1.d0c7a9d9f54eep-11, 0x1.196cb98cb508dp-11, 0x1.08bf6d9c8008ap-12,
      -0x1.7b145eb5e934dp-12, 0x1.083e74a43cf53p-16, 0x1.9fca4794b848dp-13, -0x1.d971fd0af5c98p-14,
      -0x1.f8fd09644225ep-15, 0x1.cfc1f8899b5dcp-14, -0x1.08eea67bcd8b0p-15, -0x1.c99d056dad407p-15,
      0x1.0262b84bf322ep-14, -0x1.25dd0647e75afp-17, -0x1.250542fb72ce6p-15, 0x1.200448f9c82eep-15,
      -0x1.0bfdef87948a7p-17, -0x1.91e3736194ea4p-17, 0x1.f0fa1ac41a226p-17, -0x1.2768f7d9127b8p-17,
      0x1.b6b8fb72a4caep-19, -0x1.9f5737217ec12p-21, 0x1.cf0e8b48f2536p-24, -0x1.d1f77701eb5d9p-28);
}

/// Φ(−a) = ratio·bell for a ≥ 0. By a relative error `lost` of t, Φ(−a)·exp(a²/2) changes by some
/// (1 + 3/4 t)·lost: that is made good in the exponent of the bell.
template <class T>
struct NormalTail {
  T ratio;
  Power<T> bell;
};
template <class T>
LADON_INLINE NormalTail<T> normal_tail(T a) {
  const T half = T(0.5) * a, t = T(1) / (T(1) + half), lost = (T(1) - t) - half * t;
  return {t * tail_of(t), gaussian(a, lost + T(0.75) * t * lost)};
}

// The activations end in 0 at −∞ and follow x at +∞. Beyond these bounds their factors have reached
// 0 or 1 and x is clamped, so that ∞·0 does not arise. Far below 0 the factors leave the normal
// range before the product does: there the powers of two come last.
template <class T>
constexpr T gelu_bound = sizeof(T) == 4 ? T(14.9) : T(38.9);
template <class T>
constexpr T gelu_tanh_bound = sizeof(T) == 4 ? T(10.9) : T(21.7);

/// x·Φ(x) = max(x, 0) − |x|·Φ(−|x|).
template <class T>
LADON_INLINE T gelu(T x) {
  const T a = at_most(abs(x), gelu_bound<T>);
  const NormalTail<T> tail = normal_tail(a);
  return at_least(x, T(0)) - tail.bell.times(a * tail.ratio);
}

/// Φ(x) + x·φ(x): d = Φ(−a) − a·φ(a) below 0, 1 − d above, with a = |x|.
template <class T>
LADON_INLINE T gelu_derivative(T x) {
  const T a = at_most(abs(x), gelu_bound<T>);
  const NormalTail<T> tail = normal_tail(a);
  const T d = tail.bell.times(tail.ratio - static_cast<T>(0.39894228040143268) * a);
  return x < T(0) ? d : T(1) - d;
}

/// 1/(1+e^−v) as ratio·power, where power is a power of two; and rest = 1/(1+e^v).
template <class T>
struct Sigmoid {
  T ratio, power, rest;
};
/// Of v = `minus` ≤ 0 if `below`, else of −minus.
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

// gelu_tanh(x) = x/2·(1 + tanh(v/2)) = x·sigmoid(v) with v = s·(x + 0.044715 x³), s = √(8/π). In
// the tail that is x·e^v, where an error of v is the relative error of the result. Hence v as a
// pair: s and 0.044715·s to twice the digits, and s cut so short that z − brief is exact.
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

/// With s = sigmoid(v): s + x·s(1−s)·v'.
template <class T>
LADON_INLINE T gelu_tanh_derivative(T x) {
  const T a = at_most(abs(x), gelu_tanh_bound<T>), c = x < T(0) ? -a : a;
  const T slope = T(gelu_slope) * (T(1) + T(3 * gelu_cubic) * a * a);
  const Sigmoid<T> s = sigmoid(gelu_argument(-a), x < T(0));
  return s.ratio * (T(1) + c * s.rest * slope) * s.power;
}

}  // namespace ladon::kernels::LADON_LEVEL
