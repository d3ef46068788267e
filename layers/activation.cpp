#include "ladon/layers/activation.h"

#include <array>
#include <cmath>
#include <numbers>

#include "ladon/core/error.h"
#include "ladon/core/names.h"
#include "ladon/layers/infinite/kernel/kernel.h"

namespace ladon {
namespace {

using infinite::DualFunction;

constexpr std::array<std::string_view, 19> nonlinearity_names = {
    "identity", "relu", "leaky_relu", "elu", "selu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid",
    "softplus", "abs",  "erf",        "sin", "cos",  "exp",  "rbf",       "sign", "step"};
static_assert(nonlinearity_names.size() == static_cast<std::size_t>(Nonlinearity::step) + 1);

bool has_parameter(Nonlinearity f) {
  return f == Nonlinearity::leaky_relu || f == Nonlinearity::rbf;
}

/// The parameter, or f's default.
double parameter_of(Nonlinearity f, std::optional<double> parameter) {
  LADON_CHECK(!parameter || has_parameter(f), "Activation", to_string(f), " has no parameter, got ",
              parameter.value_or(0));
  return parameter.value_or(f == Nonlinearity::leaky_relu ? 0.01 : 1);
}

infinite::Kernel limit_of(const DualFunction& f, const infinite::Kernel& k) {
  k.law.need_gaussian("activation");
  return infinite::map_pairs(k, k.law.after_nonlinearity(), [&](const infinite::Pairs& pairs) {
    const infinite::DualResult e = infinite::dual(f, pairs.left_variance(), pairs.right_variance(),
                                                  pairs.nngp, pairs.ntk.defined());
    return infinite::PairKernels{e.value,
                                 pairs.ntk.defined() ? pairs.ntk * e.derivative : Tensor()};
  });
}

}  // namespace

std::string_view to_string(Nonlinearity f) {
  return nonlinearity_names[static_cast<std::size_t>(f)];
}

Nonlinearity nonlinearity_from_name(std::string_view name) {
  return static_cast<Nonlinearity>(index_of_name("nonlinearity", name, nonlinearity_names));
}

Tensor apply(Nonlinearity f, const Tensor& x, std::optional<double> parameter) {
  const double a = parameter_of(f, parameter);
  switch (f) {
    case Nonlinearity::identity:
      return x;
    case Nonlinearity::relu:
      return relu(x);
    case Nonlinearity::leaky_relu:
      return leaky_relu(x, a);
    case Nonlinearity::elu:
      return elu(x);
    case Nonlinearity::selu:
      return selu(x);
    case Nonlinearity::gelu:
      return gelu(x);
    case Nonlinearity::gelu_tanh:
      return gelu(x, Gelu::tanh);
    case Nonlinearity::silu:
      return silu(x);
    case Nonlinearity::tanh:
      return tanh(x);
    case Nonlinearity::sigmoid:
      return sigmoid(x);
    case Nonlinearity::softplus:
      return softplus(x);
    case Nonlinearity::abs:
      return abs(x);
    case Nonlinearity::erf:
      return erf(x);
    case Nonlinearity::sin:
      return sin(x);
    case Nonlinearity::cos:
      return cos(x);
    case Nonlinearity::exp:
      return exp(x);
    case Nonlinearity::rbf:
      return std::numbers::sqrt2 * sin(std::sqrt(2 * a) * x + std::numbers::pi / 4);
    case Nonlinearity::sign:
      return sign(x);
    case Nonlinearity::step:
      break;
  }
  return 0.5 * (sign(x) + 1);
}

DualFunction dual_of(Nonlinearity f, std::optional<double> parameter) {
  const double a = parameter_of(f, parameter);
  switch (f) {
    case Nonlinearity::identity:
      return DualFunction::identity();
    case Nonlinearity::relu:
      return DualFunction::relu();
    case Nonlinearity::leaky_relu:
      return DualFunction::leaky_relu(a);
    case Nonlinearity::abs:
      return DualFunction::abs();
    case Nonlinearity::gelu:
      return DualFunction::gelu();
    case Nonlinearity::erf:
      return DualFunction::erf();
    case Nonlinearity::sin:
      return DualFunction::sin();
    case Nonlinearity::cos:
      return DualFunction::cos();
    case Nonlinearity::exp:
      return DualFunction::exp();
    case Nonlinearity::rbf:
      return DualFunction::rbf(a);
    case Nonlinearity::sign:
      return DualFunction::sign();
    case Nonlinearity::step:
      return DualFunction::step();
    default:
      return DualFunction::numeric([f](const Tensor& x) { return apply(f, x); });
  }
}

// --- activations ---

Activation::Activation(Nonlinearity f, std::optional<double> p) : function(f), parameter(p) {
  parameter_of(f, p);  // throws
  LADON_CHECK(f != Nonlinearity::rbf || p.value_or(1) >= 0, "Activation", "rbf's γ is ",
              p.value_or(1), "; it must not be negative");
}

infinite::Kernel Activation::limit(const infinite::Kernel& k) const {
  return function == Nonlinearity::identity ? k : limit_of(dual_of(function, parameter), k);
}

std::string Activation::describe() const {
  return has_parameter(function) ? detail::join("Activation(", to_string(function), ", ",
                                                parameter_of(function, parameter), ")")
                                 : detail::join("Activation(", to_string(function), ")");
}

// --- polynomials ---

Polynomial::Polynomial(std::vector<double> c, Basis b) : coefficients(std::move(c)), basis(b) {
  dual_function();  // throws for a wrong number of coefficients
}

Polynomial Polynomial::monomial(int n) {
  return Polynomial(DualFunction::monomial(n).coefficients, Basis::power);
}

Polynomial Polynomial::hermite(int n) {
  return Polynomial(DualFunction::hermite(n).coefficients, Basis::hermite);
}

DualFunction Polynomial::dual_function() const {
  return basis == Basis::power ? DualFunction::polynomial(coefficients)
                               : DualFunction::hermite(coefficients);
}

// Clenshaw's scheme, from the recurrence h_{k+1} = r_k·x·h_k + s_k·h_{k−1}:
//   b_k = c_k + r_k·x·b_{k+1} + s_{k+1}·b_{k+2},  φ(x) = b_0.
// Powers: r = 1, s = 0 (Horner). Orthonormal Hermite: r_k = 1/√(k+1), s_k = −√(k/(k+1)).
Tensor Polynomial::forward(const Tensor& x) const {
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

infinite::Kernel Polynomial::limit(const infinite::Kernel& k) const {
  return limit_of(dual_function(), k);
}

std::string Polynomial::describe() const {
  return detail::join("Polynomial(", basis == Basis::power ? "power" : "hermite", ", degree ",
                      coefficients.size() - 1, ")");
}

// --- any function ---

Elementwise::Elementwise(std::function<Tensor(const Tensor&)> f, std::string t, int n)
    : function(std::move(f)), title(std::move(t)), terms(n) {
  DualFunction::numeric(function, terms);  // throws
}

infinite::Kernel Elementwise::limit(const infinite::Kernel& k) const {
  return limit_of(DualFunction::numeric(function, terms), k);
}

std::string Elementwise::describe() const { return detail::join("Elementwise(", title, ")"); }

// --- dropout ---

Dropout::Dropout(double probability, Generator& source)
    : p(probability), rng(source.split(source.reserve(1))) {
  LADON_CHECK(p >= 0 && p <= 1, "Dropout", "p must lie in [0, 1], got ", p);
}

Tensor Dropout::forward(const Tensor& x) const { return training() ? dropout(x, p, rng) : x; }

infinite::Kernel Dropout::limit(const infinite::Kernel& k) const {
  if (!training() || p == 0) return k;
  return infinite::map_pairs(k, k.law.after_mixing(), [&](const infinite::Pairs& pairs) {
    if (p == 1) return pairs.each([](const Tensor& block) { return zeros_like(block); });
    if (!pairs.same.defined()) return pairs.each([](const Tensor& block) { return block; });
    Tensor own = cast(pairs.same, f64);  // [P], or [P, T, T]: 1 where both are the same element
    if (pairs.has_positions)
      own = unsqueeze(unsqueeze(own, -1), -1) * eye(pairs.nngp.size(-1), f64);
    const Tensor scale = 1 + (p / (1 - p)) * own;
    return pairs.each([&](const Tensor& block) { return block * scale; });
  });
}

std::string Dropout::describe() const { return detail::join("Dropout(", p, ")"); }

}  // namespace ladon
