// Recurrent cells. Gradients recompute the gates, which costs less than reading them from memory.

#include "ladon/core/extra/kernels/loops/recurrent.h"

#include "ladon/core/extra/kernels/recurrent/recurrent_cell.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/loops/activations.h"

namespace ladon::kernels::LADON_LEVEL {

const RecurrentTable& recurrent_table();

namespace {

using std::int64_t;

template <RecurrentCell cell, class T>
void plain(const T* a, const T* b, const T*, T* after, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T x = a[i] + b[i];
    after[i] = cell == RecurrentCell::tanh ? tanh(x) : x < T(0) ? T(0) : x;
  }
}

template <RecurrentCell cell, class T>
void plain_gradient(const T* g, const T* a, const T* b, const T*, T* da, T*, T* dbefore,
                    int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T x = a[i] + b[i];
    da[i] = g[i] * (cell == RecurrentCell::tanh ? tanh_slope(x) : x > T(0) ? T(1) : T(0));
    dbefore[i] = T(0);
  }
}

template <class T>
void lstm(const T* a, const T* b, const T* before, T* after, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    const T i = sigmoid(a[k] + b[k]), f = sigmoid(a[n + k] + b[n + k]),
            g = tanh(a[2 * n + k] + b[2 * n + k]), o = sigmoid(a[3 * n + k] + b[3 * n + k]);
    const T c = f * before[n + k] + i * g;
    after[k] = o * tanh(c);
    after[n + k] = c;
  }
}

// dc is the gradient with respect to c', including the contribution through h' = o·tanh(c').
template <class T>
void lstm_gradient(const T* d, const T* a, const T* b, const T* before, T* da, T*, T* dbefore,
                   int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    const T xi = a[k] + b[k], xf = a[n + k] + b[n + k], xg = a[2 * n + k] + b[2 * n + k],
            xo = a[3 * n + k] + b[3 * n + k];
    const T i = sigmoid(xi), f = sigmoid(xf), g = tanh(xg), o = sigmoid(xo);
    const T c = before[n + k], dh = d[k], next = f * c + i * g, t = tanh(next);
    const T dc = d[n + k] + dh * o * tanh_slope(next);
    da[k] = dc * g * sigmoid_slope(xi);
    da[n + k] = dc * c * sigmoid_slope(xf);
    da[2 * n + k] = dc * i * tanh_slope(xg);
    da[3 * n + k] = dh * t * sigmoid_slope(xo);
    dbefore[k] = T(0);
    dbefore[n + k] = dc * f;
  }
}

template <class T>
void gru(const T* a, const T* b, const T* before, T* after, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    const T xz = a[n + k] + b[n + k];
    const T r = sigmoid(a[k] + b[k]), z = sigmoid(xz), m = tanh(a[2 * n + k] + r * b[2 * n + k]);
    // 1 − z, which is σ(−xz); near z = 1 the subtraction would lose digits.
    const T rest = xz > T(4) ? sigmoid(-xz) : T(1) - z;
    after[k] = rest * m + z * before[k];
  }
}

template <class T>
void gru_gradient(const T* g, const T* a, const T* b, const T* before, T* da, T* db, T* dbefore,
                  int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; ++k) {
    const T xr = a[k] + b[k], xz = a[n + k] + b[n + k];
    const T bn = b[2 * n + k], r = sigmoid(xr), z = sigmoid(xz), xm = a[2 * n + k] + r * bn;
    const T dm = g[k] * sigmoid(-xz) * tanh_slope(xm);  // 1 − z = σ(−xz)
    const T dr = dm * bn * sigmoid_slope(xr),
            dz = g[k] * (before[k] - tanh(xm)) * sigmoid_slope(xz);
    da[k] = db[k] = dr;
    da[n + k] = db[n + k] = dz;
    da[2 * n + k] = dm;
    db[2 * n + k] = dm * r;
    dbefore[k] = g[k] * z;
  }
}

template <class T>
void add_all(RecurrentLoops<T>& t) {
  using enum RecurrentCell;
  t.step[int(tanh)] = plain<tanh, T>;
  t.step[int(relu)] = plain<relu, T>;
  t.step[int(lstm)] = LADON_LEVEL::lstm<T>;
  t.step[int(gru)] = LADON_LEVEL::gru<T>;
  t.gradient[int(tanh)] = plain_gradient<tanh, T>;
  t.gradient[int(relu)] = plain_gradient<relu, T>;
  t.gradient[int(lstm)] = lstm_gradient<T>;
  t.gradient[int(gru)] = gru_gradient<T>;
}

}  // namespace

const RecurrentTable& recurrent_table() {
  static const RecurrentTable filled = [] {
    RecurrentTable t{};
    add_all(t.f32);
    add_all(t.f64);
    return t;
  }();
  return filled;
}

}  // namespace ladon::kernels::LADON_LEVEL
