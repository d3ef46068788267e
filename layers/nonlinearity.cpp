#include "ladon/layers/nonlinearity.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/core/names.h"

namespace ladon {
namespace {

using infinite::DualFunction;
using std::numbers::pi, std::numbers::sqrt2;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Row of the table of functions, which is in the order of the enumeration.
struct Row {
  std::string_view name;
  Tensor (*apply)(const Tensor& x, double parameter);
  DualFunction (*dual)(double parameter);
  double parameter;  // default of the parameter; `none` if the function has none
};

constexpr std::array<Row, 19> rows = {{
    {"identity", [](const Tensor& x, double) { return x; },
     [](double) { return DualFunction::identity(); }, none},
    {"relu", [](const Tensor& x, double) { return relu(x); },
     [](double) { return DualFunction::relu(); }, none},
    {"leaky_relu", [](const Tensor& x, double a) { return leaky_relu(x, a); },
     [](double a) { return DualFunction::leaky_relu(a); }, 0.01},
    {"elu", [](const Tensor& x, double) { return elu(x); },
     [](double) { return DualFunction::elu(); }, none},
    {"selu", [](const Tensor& x, double) { return selu(x); },
     [](double) { return DualFunction::selu(); }, none},
    {"gelu", [](const Tensor& x, double) { return gelu(x); },
     [](double) { return DualFunction::gelu(); }, none},
    {"gelu_tanh", [](const Tensor& x, double) { return gelu(x, Gelu::tanh); },
     [](double) { return DualFunction::gelu_tanh(); }, none},
    {"silu", [](const Tensor& x, double) { return silu(x); },
     [](double) { return DualFunction::silu(); }, none},
    {"tanh", [](const Tensor& x, double) { return tanh(x); },
     [](double) { return DualFunction::tanh(); }, none},
    {"sigmoid", [](const Tensor& x, double) { return sigmoid(x); },
     [](double) { return DualFunction::sigmoid(); }, none},
    {"softplus", [](const Tensor& x, double) { return softplus(x); },
     [](double) { return DualFunction::softplus(); }, none},
    {"abs", [](const Tensor& x, double) { return abs(x); },
     [](double) { return DualFunction::abs(); }, none},
    {"erf", [](const Tensor& x, double) { return erf(x); },
     [](double) { return DualFunction::erf(); }, none},
    {"sin", [](const Tensor& x, double) { return sin(x); },
     [](double) { return DualFunction::sin(); }, none},
    {"cos", [](const Tensor& x, double) { return cos(x); },
     [](double) { return DualFunction::cos(); }, none},
    {"exp", [](const Tensor& x, double) { return exp(x); },
     [](double) { return DualFunction::exp(); }, none},
    {"rbf", [](const Tensor& x, double a) { return sqrt2 * sin(std::sqrt(2 * a) * x + pi / 4); },
     [](double a) { return DualFunction::rbf(a); }, 1},
    {"sign", [](const Tensor& x, double) { return sign(x); },
     [](double) { return DualFunction::sign(); }, none},
    {"step", [](const Tensor& x, double) { return 0.5 * (sign(x) + 1); },
     [](double) { return DualFunction::step(); }, none},
}};
static_assert(rows.size() == static_cast<std::size_t>(Nonlinearity::count));

const Row& row(Nonlinearity f) {
  const auto index = static_cast<std::size_t>(f);
  LADON_CHECK(index < rows.size(), "Nonlinearity", "there is no nonlinearity of number ", index,
              "; the numbers are from 0 to ", rows.size() - 1);
  return rows[index];
}

}  // namespace

std::string_view to_string(Nonlinearity f) { return row(f).name; }

Nonlinearity nonlinearity_from_name(std::string_view name) {
  std::array<std::string_view, rows.size()> names;
  for (std::size_t i = 0; i < rows.size(); ++i) names[i] = rows[i].name;
  return static_cast<Nonlinearity>(index_of_name("nonlinearity", name, names));
}

bool detail::has_parameter(Nonlinearity f) { return !std::isnan(row(f).parameter); }

double detail::checked_parameter(Nonlinearity f, std::optional<double> parameter) {
  LADON_CHECK(!parameter || detail::has_parameter(f), "Activation", to_string(f),
              " has no parameter (leaky_relu and rbf have one), got ", parameter.value_or(0));
  LADON_CHECK(std::isfinite(parameter.value_or(0)), "Activation", "the parameter of ", to_string(f),
              " must be finite, got ", parameter.value_or(0));
  LADON_CHECK(f != Nonlinearity::rbf || parameter.value_or(1) >= 0, "Activation", "rbf's γ is ",
              parameter.value_or(1), "; it must not be negative");
  return parameter.value_or(row(f).parameter);
}

Tensor activate(Nonlinearity f, const Tensor& x, std::optional<double> parameter) {
  return row(f).apply(x, detail::checked_parameter(f, parameter));
}

DualFunction dual_of(Nonlinearity f, std::optional<double> parameter) {
  return row(f).dual(detail::checked_parameter(f, parameter));
}

}  // namespace ladon
