// Updates of parameters: everything that a step does to an element, in one pass over memory.

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
  // The step is lr·(a·g + b·m): (0, 1), or (1, momentum) with Nesterov.
  const T a = T(step.nesterov ? 1 : 0), b = step.nesterov ? momentum : T(1);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T gradient = g[i] + decay * x[i];
    m[i] = momentum * m[i] + weight * gradient;
    x[i] -= lr * (a * gradient + b * m[i]);
  }
}

template <class T>
void adam(T* x, const T* g, T* m, T* v, const AdamStep& step, int64_t n) {
  const T lr = T(step.lr), beta1 = T(step.beta1), beta2 = T(step.beta2), rest1 = T(1 - step.beta1),
          rest2 = T(1 - step.beta2), correction = T(step.correction), eps = T(step.eps),
          decay = T(step.weight_decay), shrink = T(step.shrink);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T gradient = g[i] + decay * x[i];
    m[i] = beta1 * m[i] + rest1 * gradient;
    v[i] = beta2 * v[i] + rest2 * (gradient * gradient);
    x[i] = shrink * x[i] - lr * m[i] / (sqrt(v[i]) * correction + eps);
  }
}

template <class T>
void add_all(LoopsOf<T>& t) {
  t.sgd = sgd<T>;
  t.adam = adam<T>;
}

}  // namespace

void add_optimizers(Loops& table) {
  add_all(table.f32);
  add_all(table.f64);
}

}  // namespace ladon::kernels::LADON_LEVEL
