// Updates of parameters; the rules are in core/kernels/optimizer_steps.h. Each loop computes all of
// a step in one pass over memory.

#include "ladon/core/kernels/loops/math.h"
#include "ladon/core/kernels/loops/table.h"
#include "ladon/core/kernels/optimizer_steps.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

template <class T>
void sgd(T* x, const T* g, T* m, const SgdStep& step, int64_t n) {
  const T lr = T(step.lr), momentum = T(step.momentum), weight = T(step.gradient_weight),
          decay = T(step.weight_decay);
  if (!m) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) x[i] -= lr * (g[i] + decay * x[i]);
    return;
  }
  // The step is lr·(a·g + b·m), with (a, b) = (0, 1), or (1, momentum) for Nesterov.
  const T a = T(step.nesterov ? 1 : 0), b = step.nesterov ? momentum : T(1);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T gradient = g[i] + decay * x[i];
    m[i] = momentum * m[i] + weight * gradient;
    x[i] -= lr * (a * gradient + b * m[i]);
  }
}

template <class T>
void adam(T* x, const T* g, T* m, T* v, T* u, const AdamStep& step, int64_t n) {
  const T lr = T(step.lr), beta1 = T(step.beta1), beta2 = T(step.beta2), rest1 = T(1 - step.beta1),
          rest2 = T(1 - step.beta2), correction = T(step.correction), eps = T(step.eps),
          decay = T(step.weight_decay), shrink = T(step.shrink);
  if (!u) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      const T gradient = g[i] + decay * x[i];
      m[i] = beta1 * m[i] + rest1 * gradient;
      v[i] = beta2 * v[i] + rest2 * (gradient * gradient);
      x[i] = shrink * x[i] - lr * m[i] / (sqrt(v[i]) * correction + eps);
    }
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T gradient = g[i] + decay * x[i];
    m[i] = beta1 * m[i] + rest1 * gradient;
    v[i] = beta2 * v[i] + rest2 * (gradient * gradient);
    u[i] = u[i] > v[i] ? u[i] : v[i];  // a NaN in v propagates to u
    x[i] = shrink * x[i] - lr * m[i] / (sqrt(u[i]) * correction + eps);
  }
}

template <bool centered, bool heavy, class T>
void rmsprop_of(T* x, const T* g, T* v, T* c, T* m, const RmspropStep& step, int64_t n) {
  const T lr = T(step.lr), keep = T(step.decay), rest = T(1 - step.decay), eps = T(step.eps),
          decay = T(step.weight_decay), momentum = T(step.momentum);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T gradient = g[i] + decay * x[i];
    v[i] = keep * v[i] + rest * (gradient * gradient);
    T spread = v[i];
    if constexpr (centered) {
      c[i] = keep * c[i] + rest * gradient;
      const T centre = spread - c[i] * c[i];
      spread = centre < T(0) ? T(0) : centre;  // v − c² is a variance, negative only by rounding
    }
    T update = gradient / (sqrt(spread) + eps);
    if constexpr (heavy) update = m[i] = momentum * m[i] + update;
    x[i] -= lr * update;
  }
}

template <class T>
void rmsprop(T* x, const T* g, T* v, T* c, T* m, const RmspropStep& step, int64_t n) {
  const auto loop = c ? (m ? rmsprop_of<true, true, T> : rmsprop_of<true, false, T>)
                      : (m ? rmsprop_of<false, true, T> : rmsprop_of<false, false, T>);
  loop(x, g, v, c, m, step, n);
}

template <class T>
void adagrad(T* x, const T* g, T* v, const AdagradStep& step, int64_t n) {
  const T lr = T(step.lr), eps = T(step.eps), decay = T(step.weight_decay);
  constexpr T largest = static_cast<T>(sizeof(T) == 4 ? __FLT_MAX__ : __DBL_MAX__);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T gradient = g[i] + decay * x[i];
    v[i] = at_most(v[i] + gradient * gradient, largest);  // an infinite v would remain infinite
    x[i] -= lr * gradient / (sqrt(v[i]) + eps);
  }
}

template <class T>
void lion(T* x, const T* g, T* m, const LionStep& step, int64_t n) {
  const T lr = T(step.lr), beta1 = T(step.beta1), beta2 = T(step.beta2), rest1 = T(1 - step.beta1),
          rest2 = T(1 - step.beta2), shrink = T(step.shrink);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T blend = beta1 * m[i] + rest1 * g[i];
    // The sign of 0 is 0, and the sign of a NaN is that NaN.
    const T sign = blend > T(0) ? T(1) : blend < T(0) ? T(-1) : blend;
    m[i] = beta2 * m[i] + rest2 * g[i];
    x[i] = shrink * x[i] - lr * sign;
  }
}

template <class T>
void add_all(LoopsOf<T>& t) {
  t.sgd = sgd<T>;
  t.adam = adam<T>;
  t.rmsprop = rmsprop<T>;
  t.adagrad = adagrad<T>;
  t.lion = lion<T>;
}

}  // namespace

void add_optimizers(Loops& table) {
  add_all(table.f32);
  add_all(table.f64);
}

}  // namespace ladon::kernels::LADON_LEVEL
