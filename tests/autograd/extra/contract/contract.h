#pragma once
// The contract of derivatives: for every differentiable operation the first and second derivatives,
// computed in every way that the library has, are accurate to a few units in the last place of each
// element, in f32 and f64: also where functions saturate, at both ends of the range of numbers, at
// zeros, infinities and ties.
//
// The table of operations (../op_table) checks the algebra of derivatives on ordinary numbers, by
// finite differences. Here the references are closed forms, or loops, in long double, and an
// element of 1e-30 counts as much as an element of 1. A row names the operation and its error
// bounds; where a bound is wide, the row says why. contract_test.cpp compares the rows with the
// public headers, so that no operation is missing.

#include <functional>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::test {

using Exact = long double;

/// Largest allowed errors of derivatives, in units in the last place.
struct Ulps {
  double first = 4;    ///< Fused gradient, recorded gradient, forward mode.
  double second = 16;  ///< By two backward passes, and by nested forward mode.
  /// Absolute error that is allowed in addition, in units of the smallest positive number of the
  /// dtype. It is needed where factors of the result underflow before the result does.
  double floor = 64;
};

/// An elementwise operation of one operand, with closed forms of its derivatives, which must accept
/// ±∞.
struct UnaryRow {
  std::string name;  ///< Name of the operation, as declared in its header.
  std::string note;
  std::function<Tensor(const Tensor&)> apply;
  std::function<Exact(Exact)> first, second;
  Ulps ulps = {};
  bool (*in)(double) = [](double) { return true; };  ///< Points at which the derivative exists.
  std::vector<double> also = {};                     ///< Points besides those common to all rows.
};

/// An elementwise operation of two operands, with closed forms of its derivatives: by a, by b, and
/// the second derivatives by a and a, a and b, b and b.
struct BinaryRow {
  std::string name, note;
  std::function<Tensor(const Tensor&, const Tensor&)> apply;
  using Of = std::function<Exact(Exact, Exact)>;
  Of by_a, by_b, by_aa, by_ab, by_bb;
  Ulps ulps = {};
  bool (*in)(double, double) = [](double, double) { return true; };
};

/// Dual number: a value with a first derivative. Nested, `Dual<Dual<Exact>>` carries the
/// derivatives in two directions and the mixed second derivative.
template <class T>
struct Dual {
  T value{}, slope{};
  Dual() = default;
  Dual(Exact v) : value(v) {}  // NOLINT: constants in formulas
  Dual(T v, T d) : value(v), slope(d) {}
};
using Jet = Dual<Dual<Exact>>;

/// An operation over rows of numbers. Its reference is a plain loop over jets, numbers that carry
/// derivatives; derivatives of ⟨c, f(x)⟩ are compared, with a fixed c of the shape of f(x).
struct LoopRow {
  std::string name, note = {};
  std::function<Tensor(const std::vector<Tensor>&)> apply = {};
  std::function<std::vector<Jet>(const std::vector<std::vector<Jet>>&)> reference = {};
  std::vector<std::vector<double>> inputs = {};  ///< Elements of the inputs before scaling.
  std::vector<Shape> shapes = {};
  /// Powers of ten by which the first input is multiplied in turn, in f32 and in f64.
  std::vector<double> f32_scales = {0}, f64_scales = {0};
  Ulps ulps = {.first = 16, .second = 64};
  /// Whether errors are relative to the largest element of a derivative instead of each element,
  /// for sums whose terms cancel.
  bool of_largest = false;
};

/// A linear operation that copies, moves, masks or adds up elements; its gradients must be exact.
struct CopyRow {
  std::string name, note;
  std::function<Tensor(const Tensor&)> apply;  ///< Applied to x [2, 3, 4].
};

const std::vector<UnaryRow>& unary_rows();
const std::vector<BinaryRow>& binary_rows();
std::vector<LoopRow> loop_rows();
const std::vector<CopyRow>& copy_rows();

/// Distance between `got` and `want`, in units in the last place of the dtype at `want`; 0 if it is
/// at most `floor` times the smallest positive number. Infinite if one is NaN or infinite and the
/// other is not the same.
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
