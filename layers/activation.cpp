#include "ladon/layers/activation.h"

#include <cmath>
#include <utility>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/kernel/graph.h"

namespace ladon {
namespace {

using infinite::DualFunction;

infinite::KernelNode limit_of(const std::string& layer, const DualFunction& f,
                              const infinite::KernelNode& k) {
  k.law.need_gaussian(layer);
  const auto formula = [layer] {
    return infinite::Formula{"E[φ(u)·φ(v)], (u, v) ~ N(0, $k of x and x'), φ = " + layer,
                             "$t·E[φ'(u)·φ'(v)]"};
  };
  const infinite::Step step{
      .makes = k.law.after_nonlinearity(), .formula = formula, .needs = infinite::Needs::wanted};
  return infinite::map_pairs(k, step, [f](const infinite::Pairs& pairs) {
    const infinite::DualResult e = infinite::dual_of_computed(
        f, pairs.left_variance(), pairs.right_variance(), pairs.nngp, pairs.ntk.defined());
    return infinite::PairKernels{e.value,
                                 pairs.ntk.defined() ? pairs.ntk * e.derivative : Tensor()};
  });
}

}  // namespace

// --- activations ---

Activation::Activation(Nonlinearity f, std::optional<double> p) : function(f), parameter(p) {
  detail::checked_parameter(f, p);  // throws Error for a parameter that f does not take
}

infinite::KernelNode Activation::limit(const infinite::KernelNode& k) const {
  return function == Nonlinearity::identity ? k
                                            : limit_of(describe(), dual_of(function, parameter), k);
}

std::string Activation::describe() const {
  return detail::has_parameter(function)
             ? detail::join("Activation(", to_string(function), ", ",
                            detail::checked_parameter(function, parameter), ")")
             : detail::join("Activation(", to_string(function), ")");
}

// --- polynomials ---

namespace {

void check_coefficients(const std::vector<double>& coefficients) {
  LADON_CHECK(!coefficients.empty(), "Polynomial",
              "has no coefficients: it was moved from; use the object that it was moved to");
}

}  // namespace

Polynomial::Polynomial(std::vector<double> c, Basis b) : coefficients(std::move(c)), basis(b) {
  dual_function();  // throws Error for a wrong number of coefficients
}

Polynomial Polynomial::monomial(int n) {
  return Polynomial(infinite::unit_coefficients("monomial", n), Basis::power);
}

Polynomial Polynomial::hermite(int n) {
  return Polynomial(infinite::unit_coefficients("hermite", n), Basis::hermite);
}

DualFunction Polynomial::dual_function() const {
  return basis == Basis::power ? DualFunction::polynomial(coefficients)
                               : DualFunction::hermite(coefficients);
}

// Clenshaw's scheme for φ(x) = Σ_k c_k·h_k(x), with basis polynomials h_{k+1} = r_k·x·h_k +
// s_k·h_{k−1}:
//   b_k = c_k + r_k·x·b_{k+1} + s_{k+1}·b_{k+2},  φ(x) = b_0.
// Powers: r = 1, s = 0 (Horner). Orthonormal Hermite: r_k = 1/√(k+1), s_k = −√(k/(k+1)).
Tensor Polynomial::forward(const Tensor& x) const {
  check_coefficients(coefficients);
  const bool power = basis == Basis::power;
  Tensor b = full(x.shape(), coefficients.back(), x.dtype()), before;
  for (std::size_t k = coefficients.size() - 1; k-- > 0;) {
    const double n = static_cast<double>(k);
    Tensor next = (power ? 1 : 1 / std::sqrt(n + 1)) * x * b + coefficients[k];
    if (!power && before.defined()) next = next - std::sqrt((n + 1) / (n + 2)) * before;
    before = b;
    b = next;
  }
  return b;
}

infinite::KernelNode Polynomial::limit(const infinite::KernelNode& k) const {
  check_coefficients(coefficients);
  return limit_of(describe(), dual_function(), k);
}

std::string Polynomial::describe() const {
  if (coefficients.empty()) return "Polynomial(moved from)";
  return detail::join("Polynomial(", basis == Basis::power ? "power" : "hermite", ", degree ",
                      coefficients.size() - 1, ")");
}

// --- any function ---

Elementwise::Elementwise(infinite::Pointwise f, std::string t, int terms)
    : function(std::move(f)), dual(DualFunction::numeric(function, terms)), title(std::move(t)) {}

Elementwise::Elementwise(DualFunction d)
    : function(d.function()), dual(std::move(d)), title(dual.name()) {
  LADON_CHECK(static_cast<bool>(function), "Elementwise", "the dual function `", title,
              "` does not hold the activation φ that the layer must apply; use Activation, or make "
              "the dual function with DualFunction::closed");
}

Tensor Elementwise::forward(const Tensor& x) const {
  LADON_CHECK(static_cast<bool>(function), "Elementwise",
              "has no function: it was moved from; use the object that it was moved to");
  return function(x);
}

infinite::KernelNode Elementwise::limit(const infinite::KernelNode& k) const {
  return limit_of(describe(), dual, k);
}

}  // namespace ladon
