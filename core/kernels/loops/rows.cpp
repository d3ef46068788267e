// Softmax and normalization of one contiguous row. A row stays in the first-level cache between the
// passes, so a further pass costs little compared with the exponentials.

#include "ladon/core/kernels/loops/products/blocked.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

template <class T>
void set(T* y, T value, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = value;
}

/// Prefetches the row after x while row x is computed, because the processor itself does not
/// prefetch across the end of a page. (The next row need not exist.)
template <class T>
LADON_INLINE void ask_for_next_row(const T* x, int64_t n) {
  constexpr int64_t line = 64, longest = 1 << 14;  // bytes
  const auto bytes = n * static_cast<int64_t>(sizeof(T));
  if (bytes > longest) return;
  const auto next = reinterpret_cast<std::uintptr_t>(x + n);
  for (int64_t i = 0; i < bytes; i += line)
    __builtin_prefetch(reinterpret_cast<const void*>(next + static_cast<std::uintptr_t>(i)));
}

/// y = exp(x − shift) for shift ≥ x, or 0 where the exponential is below the normal numbers.
/// Returns Σy.
template <class T>
LADON_INLINE T exponentials(const T* x, T shift, T* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = exp_below_flushed(x[i] - shift);
  return reduce_row<Reduce::sum>(y, n);
}

// If one element has nearly all the probability p, then 1 − p, and `rest` in Σ exp(x − top) = 1 +
// rest, lose digits by rounding. So if p exceeds `sure`, `rest` is summed without this element.
template <class T>
constexpr T sure = T(1) - T(1) / 128;
template <class T>
constexpr T log_sure = T(-0.0078431774610258928);  // log(sure)

/// Index of the first element of x that equals `top`, or n if there is none.
template <class T>
int64_t first_place(const T* x, T top, int64_t n) {
  int64_t i = 0;
  while (i < n && x[i] != top) ++i;
  return i;
}

/// Σ exp(x − top) over all elements except the first that equals `top`; y holds the exponentials.
template <class T>
[[gnu::noinline]] T sum_of_others(const T* x, T top, T* y, int64_t n) {
  y[first_place(x, top, n)] = T(0);
  return reduce_row<Reduce::sum>(y, n);
}

/// y ∘ (g − ⟨g, y⟩) for a row in which element `winner` has nearly all the probability. It is
/// computed from g − g[winner], which gives the same result because Σy = 1.
template <class T>
[[gnu::noinline]] void backward_beside(const T* g, const T* y, int64_t winner, T* dx, int64_t n) {
  const T own = g[winner];
  const T mean = reduce_terms<Reduce::sum, T>(
      0, n, [=]<class V>(int64_t i) { return (load<V>(g + i) - own) * load<V>(y + i); });
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = y[i] * ((g[i] - own) - mean);
}

/// Makes a row of derivatives sum to 0, as it must: the derivative of the element that equals `top`
/// becomes minus the sum of the others.
template <class T>
[[gnu::noinline]] void balance(const T* y, T top, T* dx, int64_t n) {
  const int64_t winner = first_place(y, top, n);
  dx[winner] = T(0);
  dx[winner] = -reduce_row<Reduce::sum>(dx, n);
}

/// Result for a row that contains ∞: `one` for the element that is ∞ and `zero` for all others, or
/// NaN for all if several elements are ∞, since ∞ − ∞ is undefined.
template <class T>
[[gnu::noinline]] void of_infinite(const T* x, T one, T zero, T* y, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += x[i] == infinity<T>;
  for (int64_t i = 0; i < n; ++i) y[i] = count > 1 ? nan<T> : x[i] == infinity<T> ? one : zero;
}

template <class T>
void softmax(const T* x, T* y, int64_t n) {
  const T top = reduce_row<Reduce::max>(x, n);
  ask_for_next_row(x, n);
  if (top == -infinity<T>) return set(y, T(0), n);
  if (top == infinity<T>) return of_infinite(x, T(1), T(0), y, n);
  const T scale = T(1) / exponentials(x, top, y, n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] *= scale;
}

template <class T>
void log_softmax(const T* x, T* y, int64_t n) {
  const T top = reduce_row<Reduce::max>(x, n);
  ask_for_next_row(x, n);
  if (top == -infinity<T>) return set(y, top, n);
  if (top == infinity<T>) return of_infinite(x, T(0), -infinity<T>, y, n);
  const T sum = exponentials(x, top, y, n);
  const T log_sum = sum * sure<T> < T(1) ? log1p(sum_of_others(x, top, y, n)) : log(sum);
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
  if (!(sum * sure<T> < T(1))) return top + log(sum);
  T rest = 0;
  bool left_out = false;
  for (int64_t i = 0; i < n; i += piece) {
    const int64_t count = n - i < piece ? n - i : piece;
    const T part = exponentials(x + i, top, buffer, count);
    const bool here = !left_out && first_place(x + i, top, count) < count;
    rest += here ? sum_of_others(x + i, top, buffer, count) : part;
    left_out |= here;
  }
  return top + log1p(rest);
}

template <class T>
void softmax_backward(const T* g, const T* y, T* dx, int64_t n) {
  if (const T top = reduce_row<Reduce::max>(y, n); top > sure<T>)
    return backward_beside(g, y, first_place(y, top, n), dx, n);
  const T mean = dot(g, y, n);
  ask_for_next_row(g, n);
  ask_for_next_row(y, n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = y[i] * (g[i] - mean);
}

template <class T>
void log_softmax_backward(const T* g, const T* y, T* dx, int64_t n) {
  const T top = reduce_row<Reduce::max>(y, n);
  if (top == -infinity<T>) return set(dx, T(0), n);
  const T sum = reduce_row<Reduce::sum>(g, n);
  if (sum == T(0)) {  // a row that no loss uses: NaN in y must have no effect
    for (int64_t i = 0; i < n; ++i) dx[i] = g[i];
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = g[i] - exp(y[i]) * sum;
  if (top > log_sure<T>) balance(y, top, dx, n);
}

// --- layer norm ---

/// Bound on rstd. If rstd is larger, deviations from the mean are below 1/bound, and their squares
/// lose digits by underflow.
template <class T>
constexpr T squares_vanish = sizeof(T) == 4 ? T(0x1p50) : T(0x1p480);

/// Whether the rounding error of the mean matters compared with the deviations from it.
template <class T>
LADON_INLINE bool far_from_zero(T mean, T rstd) {
  return abs(mean) * rstd > T(4);
}

/// The largest power of two not above x > 0, but at least the smallest normal number.
template <class T>
LADON_INLINE T power_of_two(T x) {
  const Word<T> exponent = bits(infinity<T>);
  return from_bits<T>(bits(at_least(x, Format<T>::least_normal)) & exponent);
}

/// The mean and the reciprocal standard deviation (rstd) of x/scale.
template <class T>
struct Moments {
  T mean, rstd, scale;
};

/// 1/sqrt(mean of (x − mean)² + eps).
template <class T>
LADON_INLINE T rstd_of(const T* x, T mean, T eps, int64_t n) {
  const T sum = reduce_terms<Reduce::sum, T>(0, n, [=]<class V>(int64_t i) {
    const V d = load<V>(x + i) - mean;
    return d * d;
  });
  return T(1) / sqrt(sum / T(n) + eps);
}

/// Subtracts from the deviations y their mean, which is not 0 because of rounding; returns their
/// rstd.
template <class T>
[[gnu::noinline]] T centre_again(T eps, T* y, int64_t n) {
  const T rest = reduce_row<Reduce::sum>(y, n) / T(n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] -= rest;
  return rstd_of(y, T(0), eps, n);
}

/// y = x − mean, corrected if the rounding error of the mean matters; y may be x.
template <class T>
[[gnu::noinline]] Moments<T> centre(const T* x, T eps, T* y, int64_t n) {
  const T mean = reduce_row<Reduce::sum>(x, n) / T(n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - mean;
  const T rstd = rstd_of(y, T(0), eps, n);
  if (far_from_zero(mean, rstd)) return {mean, centre_again(eps, y, n), T(1)};
  return {mean, rstd, T(1)};
}

/// centre() of x divided by a power of two, for an x whose squares are out of the range of T.
template <class T>
[[gnu::noinline]] Moments<T> centre_scaled(const T* x, T eps, T* y, int64_t n) {
  const T top = at_least(reduce_row<Reduce::max>(x, n), -reduce_row<Reduce::min>(x, n));
  const T size = at_least(top, sqrt(eps));
  const T scale = size < infinity<T> ? power_of_two(size) : T(1);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] / scale;
  const Moments<T> m = centre<T>(y, eps / scale / scale, y, n);
  return {m.mean, m.rstd, scale};
}

/// y = (x − mean)·r·weight + bias.
template <class T>
LADON_INLINE void scale_and_shift(const T* x, T mean, T r, const T* weight, const T* bias, T* y,
                                  int64_t n) {
  if (weight && bias) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * r * weight[i] + bias[i];
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * r;
    if (weight)
      for (int64_t i = 0; i < n; ++i) y[i] *= weight[i];
    if (bias)
      for (int64_t i = 0; i < n; ++i) y[i] += bias[i];
  }
}

template <class T>
void layer_norm(const T* x, const T* weight, const T* bias, T eps, T* y, T* mean, T* rstd,
                int64_t n) {
  const auto vanish = [](T r) { return !(r > T(0) && r <= squares_vanish<T>); };
  *mean = reduce_row<Reduce::sum>(x, n) / T(n);
  ask_for_next_row(x, n);
  *rstd = rstd_of(x, *mean, eps, n);
  if (!vanish(*rstd) && !far_from_zero(*mean, *rstd)) [[likely]]
    return scale_and_shift(x, *mean, *rstd, weight, bias, y, n);
  // In a row of equal numbers, the deviations from the mean are nothing but its rounding error.
  // They are set to 0.
  const T top = reduce_row<Reduce::max>(x, n);
  if (top == reduce_row<Reduce::min>(x, n) && abs(top) < infinity<T>) {
    *mean = top;
    *rstd = T(1) / sqrt(eps);
    set(y, T(0), n);
    return scale_and_shift(y, T(0), *rstd, weight, bias, y, n);
  }
  Moments<T> m = centre(x, eps, y, n);
  if (vanish(m.rstd)) m = centre_scaled(x, eps, y, n);
  *mean = m.mean * m.scale;
  *rstd = m.rstd / m.scale;
  scale_and_shift(y, T(0), m.rstd, weight, bias, y, n);
}

// With h = (x − mean)·rstd = centred(x)·r and u = g·weight:
//   dx = rstd·(u − ⟨u, 1⟩/n − h·⟨u, h⟩/n), dweight += g·h, dbias += g.
template <class T, class Centred>
LADON_INLINE void backward_row(const T* g, const T* x, const Centred& centred, T r, T rstd,
                               const T* weight, T* dx, T* dweight, T* dbias, int64_t n) {
  const T* u = g;
  if (weight) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dx[i] = g[i] * weight[i];
    u = dx;
  }
  const T along_one = reduce_row<Reduce::sum>(u, n) / T(n);
  ask_for_next_row(g, n);
  ask_for_next_row(x, n);
  const T along_h = r / T(n) * reduce_terms<Reduce::sum, T>(0, n, [=]<class V>(int64_t i) {
                      return load<V>(u + i) * centred(load<V>(x + i));
                    });
  if (dweight) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dweight[i] += g[i] * (centred(x[i]) * r);
  }
  if (dbias) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) dbias[i] += g[i];
  }
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = rstd * ((u[i] - along_one) - centred(x[i]) * r * along_h);
}

// Backward pass for rows with very large or small x, or with a mean far from zero. rstd is written
// as s·r, where s is a power of two such that x·s − mean·s and all that is computed from it are in
// range. The rounding error of the mean, `rest`, is computed again.
template <class T>
[[gnu::noinline]] void backward_scaled(const T* g, const T* x, T mean, T rstd, const T* weight,
                                       T* dx, T* dweight, T* dbias, int64_t n) {
  constexpr T bound = sizeof(T) == 4 ? T(0x1p100) : T(0x1p1000);  // for x·s
  const T s = power_of_two(at_most(rstd, bound / abs(mean))), r = rstd / s, m = mean * s;
  T rest = 0;
  if (far_from_zero(m, r)) {
    const auto term = [=]<class V>(int64_t i) { return load<V>(x + i) * s - m; };
    rest = reduce_terms<Reduce::sum, T>(0, n, term) / T(n);
  }
  const auto centred = [=](auto v) { return (v * s - m) - rest; };
  backward_row(g, x, centred, r, rstd, weight, dx, dweight, dbias, n);
}

template <class T>
void layer_norm_backward(const T* g, const T* x, T mean, T rstd, const T* weight, T* dx, T* dweight,
                         T* dbias, int64_t n) {
  if (!(rstd * squares_vanish<T> >= T(1) && rstd <= squares_vanish<T>) || far_from_zero(mean, rstd))
    return backward_scaled(g, x, mean, rstd, weight, dx, dweight, dbias, n);
  const auto centred = [=](auto v) { return v - mean; };
  backward_row(g, x, centred, rstd, rstd, weight, dx, dweight, dbias, n);
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
