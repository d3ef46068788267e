#pragma once
// The contract of derivatives: every differentiable operation gives each of its derivatives, by
// every way there is to it, to a few units in the last place of each element: in f32 and f64, where
// functions saturate, at both ends of the range of numbers, at zeros, infinities and ties.
//
// The table of operations (../op_table) checks the algebra of derivatives on ordinary numbers,
// against differences. Here the references are closed forms, or loops, in long double, and an
// element of 1e-30 counts as much as one of 1. A row names the operation and its bounds; where a
// bound is wide, the row says why. contract_test.cpp holds the rows against the public headers.

#include <functional>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::test {

using Exact = long double;

/// Units in the last place that each way to a derivative may be off.
struct Ulps {
  double first = 4;    ///< Fused gradient, recorded gradient and tangent.
  double second = 16;  ///< By two sweeps back, and by two forward.
  /// Absolute error that is allowed beside, in units of the least positive number: where factors of
  /// the result leave the normal range before it does.
  double floor = 64;
};

/// An elementwise operation of one operand. Closed forms take ±∞ too.
struct UnaryRow {
  std::string name;  ///< As declared.
  std::string note;
  std::function<Tensor(const Tensor&)> apply;
  std::function<Exact(Exact)> first, second;
  Ulps ulps = {};
  bool (*in)(double) = [](double) { return true; };  ///< Points where there is a derivative.
  std::vector<double> also = {};                     ///< Points beside the common ones.
};

/// An elementwise operation of two operands: derivatives by the one, the other, and both.
struct BinaryRow {
  std::string name, note;
  std::function<Tensor(const Tensor&, const Tensor&)> apply;
  using Of = std::function<Exact(Exact, Exact)>;
  Of by_a, by_b, by_aa, by_ab, by_bb;
  Ulps ulps = {};
  bool (*in)(double, double) = [](double, double) { return true; };
};

/// Numbers that carry a derivative. Nested, Dual<Dual<Exact>> carries two and the mixed second one.
template <class T>
struct Dual {
  T value{}, slope{};
  Dual() = default;
  Dual(Exact v) : value(v) {}  // NOLINT: constants in formulas
  Dual(T v, T d) : value(v), slope(d) {}
};
using Jet = Dual<Dual<Exact>>;

/// An operation over rows of numbers: the reference is ⟨c, f(x)⟩, a loop over jets.
struct LoopRow {
  std::string name, note = {};
  std::function<Tensor(const std::vector<Tensor>&)> apply = {};
  std::function<std::vector<Jet>(const std::vector<std::vector<Jet>>&)> reference = {};
  std::vector<std::vector<double>> inputs = {};  ///< Multiplied by each of the scales.
  std::vector<Shape> shapes = {};
  /// Powers of ten that the first input is multiplied by, in f32 and in f64.
  std::vector<double> f32_scales = {0}, f64_scales = {0};
  Ulps ulps = {.first = 16, .second = 64};
  /// Errors count relative to the largest element of a derivative: sums that cancel.
  bool of_largest = false;
};

/// A linear operation that copies, moves, masks or adds up elements: gradients are exact.
struct CopyRow {
  std::string name, note;
  std::function<Tensor(const Tensor&)> apply;  ///< Of x [2, 3, 4].
};

const std::vector<UnaryRow>& unary_rows();
const std::vector<BinaryRow>& binary_rows();
std::vector<LoopRow> loop_rows();
const std::vector<CopyRow>& copy_rows();

/// How far `got` is from `want` in units in the last place of the dtype at `want`. Infinite where
/// one is NaN or infinite and the other is not the same.
double ulps_between(double got, Exact want, DType dtype, double floor);

// --- arithmetic of jets ---

template <class T>
Dual<T> operator+(const Dual<T>& a, const Dual<T>& b) {
  return {a.value + b.value, a.slope + b.slope};
}
template <class T>
Dual<T> operator-(const Dual<T>& a, const Dual<T>& b) {
  return {a.value - b.value, a.slope - b.slope};
}
template <class T>
Dual<T> operator*(const Dual<T>& a, const Dual<T>& b) {
  return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}
template <class T>
Dual<T> operator/(const Dual<T>& a, const Dual<T>& b) {
  const T y = a.value / b.value;
  return {y, (a.slope - y * b.slope) / b.value};
}
template <class T>
Dual<T>& operator+=(Dual<T>& a, const Dual<T>& b) {
  return a = a + b;
}
inline Exact root(Exact x) { return __builtin_sqrtl(x); }
inline Exact exponential(Exact x) { return __builtin_expl(x); }
inline Exact logarithm(Exact x) { return __builtin_logl(x); }
template <class T>
Dual<T> root(const Dual<T>& x) {
  const T y = root(x.value);
  return {y, x.slope / (y + y)};
}
template <class T>
Dual<T> exponential(const Dual<T>& x) {
  const T y = exponential(x.value);
  return {y, y * x.slope};
}
template <class T>
Dual<T> logarithm(const Dual<T>& x) {
  return {logarithm(x.value), x.slope / x.value};
}

}  // namespace ladon::test
