#include "ladon/layers/infinite/dual/dual.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/dual.h"
#include "ladon/core/view.h"
#include "ladon/layers/infinite/dual/numeric.h"

namespace ladon::infinite {
namespace {

using kernels::Dual;
using kernels::DualForm;
using Kind = DualFunction::Kind;

constexpr int max_degree = 64;

// --- closed forms ---

/// φ(x) = a·min(x, 0) + b·max(x, 0) = αx + β|x|, and its derivative α + β·sign(x).
std::vector<double> even_and_odd(double a, double b) {
  const double alpha = 0.5 * (a + b), beta = 0.5 * (b - a);
  return {alpha * alpha, beta * beta};
}

// E = Σ_k a_k(√p)·a_k(√q)·ρ^k with the Hermite coefficients a_k of φ(σz) (Mehler), and for a
// polynomial a_k(σ) = σ^k·b_k(σ²) with polynomials b_k, so that E = Σ_k b_k(p)·b_k(q)·c^k. From
//   x^n = Σ_j n!/(2^j·j!·√k!)·h_k(x),  k = n − 2j  (and powers of σ count degrees), and
//   h_n(σz) = Σ_j √(n!/k!)/(2^j·j!)·σ^k·(σ²−1)^j·h_k(z).
DualForm polynomial_form(const std::vector<double>& coefficients, bool hermite) {
  const int degree = static_cast<int>(coefficients.size()) - 1;
  LADON_CHECK(degree >= 0 && degree <= max_degree, "dual", "a polynomial of ", degree + 1,
              " coefficients; it must have 1 to ", max_degree + 1);
  std::vector<long double> factorial{1};
  for (int n = 1; n <= degree; ++n) factorial.push_back(factorial.back() * n);
  const auto at = [](auto& list, int i) -> auto& { return list[static_cast<std::size_t>(i)]; };
  const int row = degree / 2 + 1;
  std::vector<double> f(static_cast<std::size_t>(2 + (degree + 1) * row));
  f[0] = degree;
  f[1] = hermite ? 1 : 0;
  for (int k = 0; k <= degree; ++k)
    for (int j = 0, n = k; n <= degree; ++j, n += 2) {
      const long double scale = std::ldexp(at(factorial, j), j);
      const long double factor = hermite ? std::sqrt(at(factorial, n) / at(factorial, k))
                                         : at(factorial, n) / std::sqrt(at(factorial, k));
      at(f, 2 + k * row + j) = static_cast<double>(at(coefficients, n) * (factor / scale));
    }
  return {Dual::polynomial, std::move(f)};
}

DualForm form_of(const DualFunction& f) {
  switch (f.kind) {
    case Kind::identity:
      return {Dual::rectifier, even_and_odd(1, 1)};
    case Kind::rectifier:
      return {Dual::rectifier, even_and_odd(f.a, f.b)};
    case Kind::sign:
      return {Dual::threshold, even_and_odd(-1, 1)};
    case Kind::step:
      return {Dual::threshold, even_and_odd(0, 1)};
    case Kind::erf:
      return {Dual::erf, {}};
    case Kind::gelu:
      return {Dual::gelu, {}};
    case Kind::sin:
      return {Dual::sine, {0.5 * f.a * f.a, f.b * f.b, std::cos(2 * f.shift)}};
    case Kind::cos:  // sin(x + π/2)
      return {Dual::sine, {0.5 * f.a * f.a, f.b * f.b, -std::cos(2 * f.shift)}};
    case Kind::exp:
      return {Dual::exponential, {f.a * f.a, 0.5 * f.b * f.b, f.b * f.b}};
    case Kind::rbf:
      return {Dual::exponential, {1, -f.a, 2 * f.a}};
    case Kind::polynomial:
      return polynomial_form(f.coefficients, false);
    case Kind::hermite:
      return polynomial_form(f.coefficients, true);
    case Kind::numeric:
      break;
  }
  detail::fail("dual", "a numeric function has no closed form");
}

// --- one way to compute for closed forms and series ---

/// x with its stretched axes (stride 0) back at size 1: what broadcasting makes of it is the same.
Tensor unstretched(Tensor x) {
  x = x.detach();
  for (int axis = 0; axis < x.rank(); ++axis)
    if (x.strides()[axis] == 0 && x.size(axis) > 1) x = view::slice(x, axis, 0, 1, 1);
  return x;
}

kernels::DualPair values(const DualFunction& f, const Tensor& p, const Tensor& q, const Tensor& c,
                         bool with_derivative) {
  const Tensor left = unstretched(p), right = unstretched(q);
  if (f.kind == Kind::numeric) return numeric_dual(f, left, right, c, with_derivative);
  return kernels::dual(form_of(f), left, right, c, with_derivative);
}

kernels::DualPair slopes(const DualFunction& f, const Tensor& p, const Tensor& q, const Tensor& c) {
  const Tensor left = unstretched(p), right = unstretched(q);
  if (f.kind == Kind::numeric) return numeric_dual_slopes(f, left, right, c);
  return kernels::dual_slopes(form_of(f), left, right, c);
}

void check_operands(const Tensor& p, const Tensor& q, const Tensor& c) {
  for (const Tensor* x : {&p, &q, &c}) {
    LADON_CHECK(x->defined(), "dual", "an operand is undefined");
    LADON_CHECK(x->dtype() == f64, "dual", "needs f64 tensors, got ", x->dtype(),
                "; convert it with cast(x, f64)");
  }
  for (const Tensor* x : {&p, &q})
    LADON_CHECK(broadcast_shapes("dual", x->shape(), c.shape()) == c.shape(), "dual",
                "the variance ", x->shape(), " does not broadcast to the covariance ", c.shape());
}

}  // namespace

DualFunction DualFunction::rbf(double gamma) {
  LADON_CHECK(gamma >= 0, "rbf", "gamma is ", gamma, "; it must not be negative");
  return {.kind = Kind::rbf, .a = gamma};
}

DualFunction DualFunction::polynomial(std::vector<double> coefficients) {
  polynomial_form(coefficients, false);  // throws where there are too many or none
  return {.kind = Kind::polynomial, .coefficients = std::move(coefficients)};
}

DualFunction DualFunction::hermite(std::vector<double> coefficients) {
  polynomial_form(coefficients, true);
  return {.kind = Kind::hermite, .coefficients = std::move(coefficients)};
}

namespace {

/// (0, …, 0, 1): the polynomial of degree n alone.
std::vector<double> unit(const char* what, int n) {
  LADON_CHECK(n >= 0 && n <= max_degree, what, "the degree is ", n, "; it must be 0 to ",
              max_degree);
  std::vector<double> coefficients(static_cast<std::size_t>(n) + 1);
  coefficients.back() = 1;
  return coefficients;
}

}  // namespace

DualFunction DualFunction::monomial(int n) { return polynomial(unit("monomial", n)); }
DualFunction DualFunction::hermite(int n) { return hermite(unit("hermite", n)); }

DualFunction DualFunction::numeric(std::function<Tensor(const Tensor&)> function, int terms) {
  LADON_CHECK(static_cast<bool>(function), "dual", "the function is empty");
  LADON_CHECK(terms >= 8 && terms <= 256 && terms % 8 == 0, "dual", terms,
              " terms of an expansion; they must be a multiple of 8 from 8 to 256");
  return {.kind = Kind::numeric, .function = std::move(function), .terms = terms};
}

DualResult dual(const DualFunction& f, const Tensor& p, const Tensor& q, const Tensor& c,
                bool with_derivative) {
  check_operands(p, q, c);
  kernels::DualPair e = values(f, p, q, c, with_derivative);
  DualResult result;
  result.value = record_joint(
      "dual", e.first, {p, q, c},
      [f, p = saved(p), q = saved(q), c = saved(c)](const Tensor& g, GradientSink& sink) {
        LADON_CHECK(!grad_enabled(), "dual", "a dual activation has no second derivatives");
        if (sink.needs(0) || sink.needs(2)) {
          const kernels::DualPair d = slopes(f, p, q, c);
          if (sink.needs(0)) sink.give(0, g * d.second);
          if (sink.needs(2)) sink.give(2, g * d.first);
        }
        if (sink.needs(1)) sink.give(1, g * slopes(f, q, p, c).second);  // E is symmetric
      });
  if (with_derivative)
    result.derivative =
        record_joint("dual_derivative", e.second, {p, q, c}, [](const Tensor&, GradientSink&) {
          detail::fail("dual",
                       "the NTK's factor E[φ'(u)φ'(v)] has no gradient; learn hyper-parameters "
                       "by the NNGP, or detach the NTK");
        });
  return result;
}

}  // namespace ladon::infinite
