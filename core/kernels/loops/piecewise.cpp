// Loops of piecewise functions and losses: for each function, one that computes the value and one
// that computes the gradient. Pieces are chosen by selection, without branches, so that the loops
// become vector code.

#include "ladon/core/kernels/loops/piecewise.h"

#include <utility>

#include "ladon/core/kernels/loops/math.h"
#include "ladon/core/kernels/loops/table.h"
#include "ladon/core/kernels/piecewise_functions.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

/// x clamped to [low, high]; NaN if x is NaN. A zero at a bound of 0 takes the bound's sign, as in
/// maximum and minimum.
template <class T>
LADON_INLINE T between(T x, T low, T high) {
  const T above = x <= low ? low : x;
  return above >= high ? high : above;
}

// --- functions of x ---

template <Piecewise f, class T>
LADON_INLINE T value(T x, NumbersOf<T> p) {
  if constexpr (f == Piecewise::leaky_relu) return x > T(0) ? x : p.a * x;
  // e^x − 1 is computed even where it is not selected; there its argument is replaced by 0, so that
  // it does not overflow.
  if constexpr (f == Piecewise::elu) return p.b * (x > T(0) ? x : p.a * expm1(at_most(x, T(0))));
  if constexpr (f == Piecewise::clamp) return between(x, p.a, p.b);
}

template <Piecewise f, class T>
LADON_INLINE T gradient(T g, T x, NumbersOf<T> p) {
  if constexpr (f == Piecewise::leaky_relu) return x > T(0) ? g : g * p.a;
  if constexpr (f == Piecewise::elu) return g * (p.b * (x > T(0) ? T(1) : p.a * exp_below(x)));
  if constexpr (f == Piecewise::clamp) return ((x < p.a) | (x > p.b)) ? T(0) : g;
}

// --- losses of a prediction x and a target t ---

/// w·x, and 0 where w is 0 and x infinite: an element of weight 0 contributes nothing.
template <class T>
LADON_INLINE T weighted(T w, T x) {
  return ((w == T(0)) & (abs(x) == infinity<T>)) ? T(0) : w * x;
}

template <Loss f, class T>
LADON_INLINE T value(T x, T t, NumbersOf<T> p) {
  const T e = x - t;
  if constexpr (f == Loss::squared) return e * e;
  if constexpr (f == Loss::absolute) return abs(e);
  if constexpr (f == Loss::huber) {
    const T c = between(e, -p.a, p.a);
    return c / p.b * (e - T(0.5) * c);
  }
  if constexpr (f == Loss::logistic) {  // −ln σ(±x) = max(∓x, 0) + ln(1 + e^−|x|)
    const T both = log1p_finite(exp_below(-abs(x)));
    return weighted(t, at_least(-x, T(0)) + both) + weighted(T(1) - t, at_least(x, T(0)) + both);
  }
}

template <Loss f, class T>
LADON_INLINE T gradient(T g, T x, T t, NumbersOf<T> p) {
  const T e = x - t;
  if constexpr (f == Loss::squared) return g * (T(2) * e);
  if constexpr (f == Loss::absolute) return g * (e > T(0) ? T(1) : e < T(0) ? T(-1) : e);
  if constexpr (f == Loss::huber) return g * (between(e, -p.a, p.a) / p.b);
  if constexpr (f == Loss::logistic) {  // (1 − t)·σ(x) − t·σ(−x)
    const T tail = exp_below(-abs(x)), share = T(1) / (T(1) + tail), rest = tail * share;
    return g * ((T(1) - t) * (x < T(0) ? rest : share) - t * (x < T(0) ? share : rest));
  }
}

// --- the loops ---

template <Piecewise f, class T>
void values(const T* x, T* y, int64_t n, NumbersOf<T> p) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = value<f>(x[i], p);
}
template <Piecewise f, class T>
void gradients(const T* g, const T* x, T* dx, int64_t n, NumbersOf<T> p) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = gradient<f>(g[i], x[i], p);
}
template <Loss f, class T>
void values(const T* x, const T* t, T* y, int64_t n, NumbersOf<T> p) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = value<f>(x[i], t[i], p);
}
template <Loss f, class T>
void gradients(const T* g, const T* x, const T* t, T* dx, int64_t n, NumbersOf<T> p) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = gradient<f>(g[i], x[i], t[i], p);
}

template <class T, int... i>
void add_functions(LoopsOf<T>& t, std::integer_sequence<int, i...>) {
  static constexpr PiecewiseLoop<T> of_value[] = {values<Piecewise(i), T>...};
  static constexpr PiecewiseGradientLoop<T> of_gradient[] = {gradients<Piecewise(i), T>...};
  t.piecewise = of_value;
  t.piecewise_gradient = of_gradient;
}
template <class T, int... i>
void add_losses(LoopsOf<T>& t, std::integer_sequence<int, i...>) {
  static constexpr LossLoop<T> of_value[] = {values<Loss(i), T>...};
  static constexpr LossGradientLoop<T> of_gradient[] = {gradients<Loss(i), T>...};
  t.loss = of_value;
  t.loss_gradient = of_gradient;
}

template <class T>
void add_all(LoopsOf<T>& t) {
  add_functions(t, std::make_integer_sequence<int, int(Piecewise::count)>());
  add_losses(t, std::make_integer_sequence<int, int(Loss::count)>());
}

}  // namespace

void add_piecewise(Loops& table) {
  add_all(table.f32);
  add_all(table.f64);
}

}  // namespace ladon::kernels::LADON_LEVEL
