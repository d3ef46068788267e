// Softmax and normalization of one contiguous row. A row stays in the first-level cache between the
// passes, so a pass costs little beside the exponentials.

#include "ladon/core/kernels/loops/blocked.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

template <class T>
void set(T* y, T value, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = value;
}

/// y = exp(x − shift); returns Σy.
template <class T>
LADON_INLINE T exponentials(const T* x, T shift, T* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = exp(x[i] - shift);
  return reduce_row<Reduce::sum>(y, n);
}

template <class T>
void softmax(const T* x, T* y, int64_t n) {
  const T top = reduce_row<Reduce::max>(x, n);
  if (top == -infinity<T>) return set(y, T(0), n);
  const T scale = T(1) / exponentials(x, top, y, n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] *= scale;
}

template <class T>
void log_softmax(const T* x, T* y, int64_t n) {
  const T top = reduce_row<Reduce::max>(x, n);
  if (top == -infinity<T>) return set(y, top, n);
  const T log_sum = log(exponentials(x, top, y, n));
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - top) - log_sum;
}

template <class T>
T logsumexp(const T* x, int64_t n) {
  const T top = reduce_row<Reduce::max>(x, n);
  if (abs(top) == infinity<T>) return top;
  constexpr int64_t piece = 1024;
  T buffer[piece];
  T sum = 0;
  for (int64_t i = 0; i < n; i += piece)
    sum += exponentials(x + i, top, buffer, n - i < piece ? n - i : piece);
  return top + log(sum);
}

template <class T>
void softmax_backward(const T* g, const T* y, T* dx, int64_t n) {
  const T mean = dot(g, y, n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = y[i] * (g[i] - mean);
}

template <class T>
void log_softmax_backward(const T* g, const T* y, T* dx, int64_t n) {
  if (reduce_row<Reduce::max>(y, n) == -infinity<T>) return set(dx, T(0), n);
  const T sum = reduce_row<Reduce::sum>(g, n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = g[i] - exp(y[i]) * sum;
}

template <class T>
void layer_norm(const T* x, const T* weight, const T* bias, T eps, T* y, T* mean, T* rstd,
                int64_t n) {
  const T m = reduce_row<Reduce::sum>(x, n) / T(n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - m;
  const T r = T(1) / sqrt(reduce_row<Reduce::sum_squares>(y, n) / T(n) + eps);
  if (weight && bias) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = y[i] * r * weight[i] + bias[i];
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] *= r;
    if (weight)
      for (int64_t i = 0; i < n; ++i) y[i] *= weight[i];
    if (bias)
      for (int64_t i = 0; i < n; ++i) y[i] += bias[i];
  }
  *mean = m;
  *rstd = r;
}

// With h = (x − mean)·rstd and u = g·weight:
//   dx = rstd·(u − ⟨u, 1⟩/n − h·⟨u, h⟩/n), dweight += g·h, dbias += g.
template <class T>
void layer_norm_backward(const T* g, const T* x, T mean, T rstd, const T* weight, T* dx, T* dweight,
                         T* dbias, int64_t n) {
  const T* u = g;
  if (weight) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dx[i] = g[i] * weight[i];
    u = dx;
  }
  const T along_one = reduce_row<Reduce::sum>(u, n) / T(n);
  const T along_h = rstd / T(n) * reduce_terms<Reduce::sum, T>(0, n, [=]<class V>(int64_t i) {
                      return load<V>(u + i) * (load<V>(x + i) - mean);
                    });
  if (dweight) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dweight[i] += g[i] * ((x[i] - mean) * rstd);
  }
  if (dbias) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dbias[i] += g[i];
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i)
    dx[i] = rstd * ((u[i] - along_one) - (x[i] - mean) * rstd * along_h);
}

template <class T>
void add_all(LoopsOf<T>& t) {
  t.softmax = softmax<T>;
  t.log_softmax = log_softmax<T>;
  t.logsumexp = logsumexp<T>;
  t.softmax_backward = softmax_backward<T>;
  t.log_softmax_backward = log_softmax_backward<T>;
  t.layer_norm = layer_norm<T>;
  t.layer_norm_backward = layer_norm_backward<T>;
}

}  // namespace

void add_rows(Loops& table) {
  add_all(table.f32);
  add_all(table.f64);
}

}  // namespace ladon::kernels::LADON_LEVEL
