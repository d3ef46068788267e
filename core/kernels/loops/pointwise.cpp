// Pointwise loops. `omp simd` tells the compiler that elements are independent (an output may be
// one of the inputs), so it vectorizes without testing for overlap.

#include <utility>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops/activations.h"
#include "ladon/core/kernels/loops/pow.h"
#include "ladon/core/kernels/loops/table.h"
#include "ladon/core/kernels/unary.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;
using std::uint64_t;

template <class T>
constexpr bool floating = std::is_floating_point_v<T>;
template <class T>
constexpr bool integer = std::is_same_v<T, int64_t>;

LADON_INLINE float ceil(float x) { return __builtin_ceilf(x); }
LADON_INLINE double ceil(double x) { return __builtin_ceil(x); }
LADON_INLINE float round(float x) { return __builtin_rintf(x); }
LADON_INLINE double round(double x) { return __builtin_rint(x); }
float far_sin(float x) { return __builtin_sinf(x); }
double far_sin(double x) { return __builtin_sin(x); }
float far_cos(float x) { return __builtin_cosf(x); }
double far_cos(double x) { return __builtin_cos(x); }
float atan2(float a, float b) { return __builtin_atan2f(a, b); }
double atan2(double a, double b) { return __builtin_atan2(a, b); }
float fmod(float a, float b) { return __builtin_fmodf(a, b); }
double fmod(double a, double b) { return __builtin_fmod(a, b); }

// --- one element ---

template <Unary op, class T>
constexpr bool has_unary = floating<T> || (integer<T> && (op == Unary::neg || op == Unary::abs ||
                                                          op == Unary::sign || op == Unary::floor ||
                                                          op == Unary::square));

template <Unary op, class T>
LADON_INLINE T apply(T x) {
  if constexpr (op == Unary::neg) return -x;
  if constexpr (op == Unary::abs) return abs(x);
  if constexpr (op == Unary::sign) return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
  if constexpr (op == Unary::floor) return floor(x);
  if constexpr (op == Unary::ceil) return ceil(x);
  if constexpr (op == Unary::round) return round(x);
  if constexpr (op == Unary::square) return x * x;
  if constexpr (op == Unary::sqrt) return sqrt(x);
  if constexpr (op == Unary::rsqrt) return T(1) / sqrt(x);
  if constexpr (op == Unary::reciprocal) return T(1) / x;
  if constexpr (op == Unary::exp) return exp(x);
  if constexpr (op == Unary::expm1) return expm1(x);
  if constexpr (op == Unary::log) return log(x);
  if constexpr (op == Unary::log1p) return log1p(x);
  if constexpr (op == Unary::tanh) return tanh(x);
  if constexpr (op == Unary::erf) return erf(x);
  if constexpr (op == Unary::sigmoid) return sigmoid(x);
  if constexpr (op == Unary::softplus) return softplus(x);
  if constexpr (op == Unary::relu) return x < T(0) ? T(0) : x;
  if constexpr (op == Unary::gelu) return gelu(x);
  if constexpr (op == Unary::gelu_tanh) return gelu_tanh(x);
  if constexpr (op == Unary::silu) return silu(x);
  if constexpr (op == Unary::sigmoid_slope) return sigmoid_slope(x);
  if constexpr (op == Unary::normal_cdf) return normal_cdf(x);
  if constexpr (op == Unary::gelu_tanh_gate) return gelu_tanh_gate(x);
}

// Integers wrap around, so they are computed as unsigned integers.
template <Unary op>
LADON_INLINE int64_t apply(int64_t x) {
  const auto u = static_cast<uint64_t>(x);
  if constexpr (op == Unary::neg) return static_cast<int64_t>(0 - u);
  if constexpr (op == Unary::abs) return static_cast<int64_t>(x < 0 ? 0 - u : u);
  if constexpr (op == Unary::sign) return (x > 0) - (x < 0);
  if constexpr (op == Unary::floor) return x;
  if constexpr (op == Unary::square) return static_cast<int64_t>(u * u);
}

template <Unary op, class T>
void unary(const T* x, T* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = apply<op>(x[i]);
}

// Far from 0 the range reduction of `sine` is inaccurate; the C library is used there.
template <bool cosine, class T>
void sine_loop(const T* x, T* y, int64_t n) {
  int64_t beyond = 0;
#pragma omp simd reduction(+ : beyond)
  for (int64_t i = 0; i < n; ++i) beyond += !(abs(x[i]) <= sine_limit<T>);
  if (beyond == 0) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] = sine(x[i], Word<T>(cosine));
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = cosine ? far_cos(x[i]) : far_sin(x[i]);
  }
}

// --- two elements ---

template <Binary op, class T>
constexpr bool has_binary = floating<T> ||
                            (integer<T> && (op == Binary::add || op == Binary::sub ||
                                            op == Binary::pow || op == Binary::remainder)) ||
                            op == Binary::mul || op == Binary::maximum || op == Binary::minimum;

template <class T>
T remainder(T a, T b) {
  const T r = fmod(a, b);
  return r != T(0) && (r < T(0)) != (b < T(0)) ? r + b : r;
}

template <Binary op, class T>
LADON_INLINE T apply(T a, T b) {
  if constexpr (op == Binary::add) return a + b;
  if constexpr (op == Binary::sub) return a - b;
  if constexpr (op == Binary::mul) return a * b;
  if constexpr (op == Binary::div) return a / b;
  if constexpr (op == Binary::pow) return pow(a, b);
  if constexpr (op == Binary::maximum) return a > b || a != a ? a : b;
  if constexpr (op == Binary::minimum) return a < b || a != a ? a : b;
  if constexpr (op == Binary::atan2) return atan2(a, b);
  if constexpr (op == Binary::remainder) return remainder(a, b);
  if constexpr (op == Binary::tanh_gradient) return a * tanh_slope(b);
  if constexpr (op == Binary::sigmoid_gradient) return a * sigmoid_slope(b);
  if constexpr (op == Binary::softplus_gradient) return a * sigmoid(b);
  if constexpr (op == Binary::relu_gradient) return b <= T(0) ? T(0) : a;
  if constexpr (op == Binary::gelu_gradient) return a * gelu_derivative(b);
  if constexpr (op == Binary::gelu_tanh_gradient) return a * gelu_tanh_derivative(b);
  if constexpr (op == Binary::silu_gradient) return a * silu_derivative(b);
  if constexpr (op == Binary::gaussian) return power_of_negative(exact_product(-b * a, a));
}

// The caller has excluded e < 0.
inline int64_t pow(int64_t a, int64_t e) {
  uint64_t result = 1;
  for (auto base = static_cast<uint64_t>(a); e > 0; e >>= 1, base *= base)
    if (e & 1) result *= base;
  return static_cast<int64_t>(result);
}

// The caller has excluded b = 0.
inline int64_t remainder(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

template <Binary op>
LADON_INLINE int64_t apply(int64_t a, int64_t b) {
  const auto u = static_cast<uint64_t>(a), v = static_cast<uint64_t>(b);
  if constexpr (op == Binary::add) return static_cast<int64_t>(u + v);
  if constexpr (op == Binary::sub) return static_cast<int64_t>(u - v);
  if constexpr (op == Binary::mul) return static_cast<int64_t>(u * v);
  if constexpr (op == Binary::pow) return pow(a, b);
  if constexpr (op == Binary::maximum) return a > b ? a : b;
  if constexpr (op == Binary::minimum) return a < b ? a : b;
  if constexpr (op == Binary::remainder) return remainder(a, b);
}

template <Binary op>
LADON_INLINE bool apply(bool a, bool b) {
  return op == Binary::maximum ? a | b : a & b;
}

template <Binary op, class T>
void binary(const T* a, const T* b, T* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = apply<op>(a[i], b[i]);
}

template <Compare op, class T>
void compare(const T* a, const T* b, bool* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (op == Compare::eq) y[i] = a[i] == b[i];
    if constexpr (op == Compare::ne) y[i] = a[i] != b[i];
    if constexpr (op == Compare::lt) y[i] = a[i] < b[i];
    if constexpr (op == Compare::le) y[i] = a[i] <= b[i];
    if constexpr (op == Compare::gt) y[i] = a[i] > b[i];
    if constexpr (op == Compare::ge) y[i] = a[i] >= b[i];
  }
}

// Reads both a and b, and the condition as a byte, so that the choice needs no branch.
template <class T>
void select(const bool* condition, const T* a, const T* b, T* y, int64_t n) {
  const auto* choice = reinterpret_cast<const unsigned char*>(condition);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const T u = a[i], v = b[i];
    if constexpr (std::is_same_v<T, bool>)
      y[i] = (condition[i] & u) | (!condition[i] & v);
    else
      y[i] = choice[i] != 0 ? u : v;
  }
}

template <class T>
void axpby(T a, T* x, T b, const T* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (integer<T>)
      x[i] = static_cast<T>(uint64_t(a) * uint64_t(x[i]) + uint64_t(b) * uint64_t(y[i]));
    else
      x[i] = a * x[i] + b * y[i];
  }
}

// --- the table ---

template <Unary op, class T>
constexpr typename LoopsOf<T>::UnaryLoop unary_loop() {
  if constexpr (floating<T> && (op == Unary::sin || op == Unary::cos))
    return sine_loop<op == Unary::cos, T>;
  else if constexpr (has_unary<op, T>)
    return unary<op, T>;
  else
    return nullptr;
}

template <Binary op, class T>
constexpr typename LoopsOf<T>::BinaryLoop binary_loop() {
  if constexpr (has_binary<op, T>)
    return binary<op, T>;
  else
    return nullptr;
}

template <class T, int... i>
void add_unary(LoopsOf<T>& t, std::integer_sequence<int, i...>) {
  static constexpr typename LoopsOf<T>::UnaryLoop loops[] = {unary_loop<Unary(i), T>()...};
  t.unary = loops;
}
template <class T, int... i>
void add_binary(LoopsOf<T>& t, std::integer_sequence<int, i...>) {
  static constexpr typename LoopsOf<T>::BinaryLoop loops[] = {binary_loop<Binary(i), T>()...};
  t.binary = loops;
}
template <class T, int... i>
void add_compare(LoopsOf<T>& t, std::integer_sequence<int, i...>) {
  static constexpr typename LoopsOf<T>::CompareLoop loops[] = {compare<Compare(i), T>...};
  t.compare = loops;
}

template <class T>
void add_all(LoopsOf<T>& t) {
  add_unary(t, std::make_integer_sequence<int, int(Unary::count)>());
  add_binary(t, std::make_integer_sequence<int, int(Binary::count)>());
  add_compare(t, std::make_integer_sequence<int, int(Compare::count)>());
  t.select = select<T>;
  if constexpr (!std::is_same_v<T, bool>) t.axpby = axpby<T>;
}

}  // namespace

void add_pointwise(Loops& table) {
  add_all(table.boolean);
  add_all(table.i64);
  add_all(table.f32);
  add_all(table.f64);
}

}  // namespace ladon::kernels::LADON_LEVEL
