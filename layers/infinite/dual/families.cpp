// Functions whose duals have closed forms, which vectorized loops compute
// (core/kernels/loops/limits/dual.cpp).

#include <cmath>
#include <utility>

#include "ladon/core/error.h"
#include "ladon/layers/infinite/dual/rule.h"

namespace ladon::infinite {
namespace {

using kernels::Dual;
using kernels::DualForm;

constexpr int max_degree = 64;

class FamilyRule final : public SlopedRule {
 public:
  explicit FamilyRule(DualForm form) : form_(std::move(form)) {}

 private:
  kernels::DualPair values(const Tensor& p, const Tensor& q, const Tensor& c,
                           bool with_derivative) const override {
    return kernels::dual(form_, p, q, c, with_derivative);
  }
  kernels::DualPair slopes(const Tensor& p, const Tensor& q, const Tensor& c) const override {
    return kernels::dual_slopes(form_, p, q, c);
  }
  kernels::DualPair curvatures(const Tensor& p, const Tensor& q, const Tensor& c) const override {
    return kernels::dual_curvatures(form_, p, q, c);
  }

  DualForm form_;
};

std::shared_ptr<const DualRule> family(Dual which, std::vector<double> parameters) {
  return std::make_shared<FamilyRule>(DualForm{which, std::move(parameters)});
}

/// Parameters of φ(x) = a·min(x, 0) + b·max(x, 0) = αx + β|x|, and of its derivative α + β·sign(x).
std::vector<double> even_and_odd(double a, double b) {
  const double alpha = 0.5 * (a + b), beta = 0.5 * (b - a);
  return {alpha * alpha, beta * beta, 0, 0};
}

// Let u and v be normal with variances p and q, covariance c and correlation ρ, and E the mean of
// φ(u)·φ(v). With the orthonormal Hermite polynomials h_k and the Hermite coefficients a_k(σ) of
// φ(σz), E = Σ_k a_k(√p)·a_k(√q)·ρ^k (Mehler). For a polynomial a_k(σ) = σ^k·b_k(σ²) with
// polynomials b_k, so that E = Σ_k b_k(p)·b_k(q)·c^k. The b_k follow from
//   x^n = Σ_j n!/(2^j·j!·√k!)·h_k(x),  k = n − 2j  (so that (σz)^n has a factor σ^n), and
//   h_n(σz) = Σ_j √(n!/k!)/(2^j·j!)·σ^k·(σ²−1)^j·h_k(z).
std::shared_ptr<const DualRule> polynomial_family(const std::vector<double>& coefficients,
                                                  bool hermite) {
  const int degree = static_cast<int>(coefficients.size()) - 1;
  LADON_CHECK(degree >= 0 && degree <= max_degree, "dual", "got a polynomial of ", degree + 1,
              " coefficients; it must have 1 to ", max_degree + 1);
  std::vector<long double> factorial{1};
  for (int n = 1; n <= degree; ++n) factorial.push_back(factorial.back() * n);
  const auto at = [](auto& list, int i) -> auto& { return list[i]; };
  const int row = degree / 2 + 1;
  std::vector<double> f(2 + (degree + 1) * row);
  f[0] = degree;
  f[1] = hermite ? 1 : 0;
  for (int k = 0; k <= degree; ++k)
    for (int j = 0, n = k; n <= degree; ++j, n += 2) {
      const long double scale = std::ldexp(at(factorial, j), j);
      const long double factor = hermite ? std::sqrt(at(factorial, n) / at(factorial, k))
                                         : at(factorial, n) / std::sqrt(at(factorial, k));
      at(f, 2 + k * row + j) = static_cast<double>(at(coefficients, n) * (factor / scale));
    }
  return family(Dual::polynomial, std::move(f));
}

}  // namespace

DualFunction DualFunction::rectifier(double below, double above) {
  return {"rectifier", family(Dual::rectifier, even_and_odd(below, above))};
}

DualFunction DualFunction::sign() { return {"sign", family(Dual::threshold, even_and_odd(-1, 1))}; }

DualFunction DualFunction::step() { return {"step", family(Dual::threshold, even_and_odd(0, 1))}; }

DualFunction DualFunction::erf() { return {"erf", family(Dual::erf, {1, 1})}; }

DualFunction DualFunction::gelu() { return {"gelu", family(Dual::gelu, {1, 1})}; }

DualFunction DualFunction::sin(double a, double b, double shift) {
  return {"sin", family(Dual::sine, {0.5 * a * a, b * b, std::cos(2 * shift)})};
}

DualFunction DualFunction::cos(double a, double b, double shift) {  // cos(x) = sin(x + π/2)
  return {"cos", family(Dual::sine, {0.5 * a * a, b * b, -std::cos(2 * shift)})};
}

DualFunction DualFunction::exp(double a, double b) {
  return {"exp", family(Dual::exponential, {a * a, 0.5 * b * b, b * b})};
}

DualFunction DualFunction::rbf(double gamma) {
  LADON_CHECK(gamma >= 0 && std::isfinite(gamma), "rbf", "gamma is ", gamma,
              "; it must be finite and must not be negative");
  return {"rbf", family(Dual::exponential, {1, -gamma, 2 * gamma})};
}

DualFunction DualFunction::polynomial(const std::vector<double>& coefficients) {
  return {"polynomial", polynomial_family(coefficients, false)};
}

DualFunction DualFunction::hermite(const std::vector<double>& coefficients) {
  return {"hermite", polynomial_family(coefficients, true)};
}

std::vector<double> unit_coefficients(const char* what, int n) {
  LADON_CHECK(n >= 0 && n <= max_degree, what, "the degree is ", n, "; it must be 0 to ",
              max_degree);
  std::vector<double> coefficients(static_cast<std::size_t>(n) + 1);
  coefficients.back() = 1;
  return coefficients;
}

DualFunction DualFunction::monomial(int n) { return polynomial(unit_coefficients("monomial", n)); }
DualFunction DualFunction::hermite(int n) { return hermite(unit_coefficients("hermite", n)); }

}  // namespace ladon::infinite
