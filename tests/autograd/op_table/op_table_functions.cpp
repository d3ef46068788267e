// Rows of the functions of one element (autograd/ops/pointwise.h).

#include <cmath>
#include <limits>
#include <numbers>

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

using Function = std::function<Tensor(const Tensor&)>;

OpSample sample(const std::string& note, const Tensor& x, const Function& f,
                const std::function<double(double)>& reference) {
  return {.note = note,
          .inputs = {x},
          .apply = [f](const auto& inputs) { return f(inputs[0]); },
          .reference = pointwise([reference](const auto& v) { return reference(v[0]); })};
}

OpSample value_only(OpSample s) {
  s.differentiable = false;
  return s;
}

/// A function on [low, high): a matrix, a scalar and (by value alone) the `special` points.
OpRow function_row(OpTable& table, const std::string& name, const Function& f,
                   const std::function<double(double)>& reference, double low, double high,
                   std::initializer_list<double> special, double atol_zero_gap = 0) {
  const auto draw = [&](const Shape& shape) {
    return atol_zero_gap > 0 ? table.random_off_zero(shape, atol_zero_gap)
                             : table.random(shape, low, high);
  };
  return {.name = name,
          .samples = {sample("matrix", draw({3, 5}), f, reference),
                      sample("scalar", draw({}), f, reference),
                      sample("long", draw({2, 3, 7}), f, reference),
                      value_only(sample("special", tensor(special, f64), f, reference))},
          .empty = {sample("no rows", zeros({0, 3}, f64), f, reference)},
          .errors = {{"undefined", [f] { f(Tensor()); }}}};
}

double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double elu_of(double x, double alpha) { return x > 0 ? x : alpha * std::expm1(x); }
double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double softplus_of(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

void add_elementary(OpTable& t) {
  const auto add = [&](const char* name, Tensor (*f)(const Tensor&), double (*reference)(double),
                       double low, double high, std::initializer_list<double> special) {
    t.add(function_row(t, name, f, reference, low, high, special));
  };
  add("sqrt", sqrt, std::sqrt, 0.1, 4, {0, 1, 1e-300, 1e300, inf, -1, NAN});
  add("rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.1, 4, {0, 1, 4, inf, -1, NAN});
  add("reciprocal", reciprocal, [](double x) { return 1 / x; }, 0.3, 4, {0, 1, -4, inf, NAN});
  add("exp", exp, std::exp, -2, 2, {0, 1, -745, 709, 710, -inf, inf, NAN});
  add("expm1", expm1, std::expm1, -2, 2, {0, 1e-15, -1e-9, -50, 700, -inf, NAN});
  add("log", log, std::log, 0.1, 4, {0, 1, 5e-324, 1e308, inf, -1, NAN});
  add("log1p", log1p, std::log1p, -0.8, 4, {0, 1e-15, -1, 1e300, inf, -2, NAN});
  add("sin", sin, std::sin, -4, 4, {0, 1e-9, 30, -100, NAN});
  add("cos", cos, std::cos, -4, 4, {0, 1e-9, 30, -100, NAN});
  add("tanh", tanh, std::tanh, -3, 3, {0, 1e-12, 20, -20, 400, inf, -inf, NAN});
  add("erf", erf, std::erf, -3, 3, {0, 1e-12, 6, -6, inf, -inf, NAN});
  add("sigmoid", sigmoid, sigmoid_of, -4, 4, {0, 40, -40, 800, -700, inf, -inf, NAN});
}

void add_activations(OpTable& t) {
  t.add(function_row(t, "softplus", softplus, softplus_of, -4, 4, {0, 40, -40, 800, inf, NAN}));
  t.add(function_row(t, "silu", silu, [](double x) { return x * sigmoid_of(x); }, -4, 4,
                     {0, 40, -40, 800, NAN}));
  t.add(function_row(
      t, "relu", relu, [](double x) { return x > 0    ? x
                                             : x == x ? 0
                                                      : x; }, 0, 0,
      {0, inf, -inf, NAN}, 0.1));
  t.add(function_row(
      t, "selu", selu,
      [](double x) { return 1.0507009873554804934 * elu_of(x, 1.6732632423543772848); }, 0, 0,
      {0, 800, -800, inf}, 0.1));

  OpRow leaky = function_row(
      t, "leaky_relu", [](const Tensor& x) { return leaky_relu(x); },
      [](double x) { return x > 0 ? x : 0.01 * x; }, 0, 0, {0, 5, -5}, 0.1);
  leaky.samples.push_back(sample(
      "slope", t.random_off_zero({4}), [](const Tensor& x) { return leaky_relu(x, -0.3); },
      [](double x) { return x > 0 ? x : -0.3 * x; }));
  leaky.errors.push_back({"floating", [] { leaky_relu(ones({2}, i64)); }});
  t.add(leaky);

  OpRow elu_row = function_row(
      t, "elu", [](const Tensor& x) { return elu(x); }, [](double x) { return elu_of(x, 1); }, 0, 0,
      {0, 800, -800}, 0.1);
  elu_row.samples.push_back(sample(
      "alpha", t.random_off_zero({4}), [](const Tensor& x) { return elu(x, 0.5); },
      [](double x) { return elu_of(x, 0.5); }));
  t.add(elu_row);

  OpRow gelu_row = function_row(
      t, "gelu", [](const Tensor& x) { return gelu(x); },
      [](double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }, -3, 3,
      {0, 1e-12, 10, -5, 40});
  gelu_row.samples.push_back(sample(
      "tanh form", t.random({3, 4}), [](const Tensor& x) { return gelu(x, Gelu::tanh); },
      gelu_tanh));
  t.add(gelu_row);
}

/// Defined on integers too; `special` holds points where the function is not smooth.
void add_integral(OpTable& t) {
  const auto add = [&](const char* name, Tensor (*f)(const Tensor&), double (*reference)(double),
                       std::initializer_list<double> special) {
    OpRow row = function_row(t, name, f, reference, 0, 0, special, 0.1);
    row.samples.push_back(sample("integers", tensor({-3, 0, 7}, i64), f, reference));
    row.samples.back().differentiable = false;
    t.add(row);
  };
  add("neg", neg, [](double x) { return -x; }, {0, inf, NAN});
  add("abs", abs, [](double x) { return std::abs(x); }, {0, -inf, NAN});
  add("square", square, [](double x) { return x * x; }, {0, 1e200, -inf, NAN});
  add("sign", sign, [](double x) { return x > 0 ? 1. : x < 0 ? -1. : 0.; }, {0, -inf, 5});
  add("floor", floor, [](double x) { return std::floor(x); }, {0, -2, 1.5, -1.5, 1e300, -inf, NAN});
  add("ceil", ceil, [](double x) { return std::ceil(x); }, {0, -2, 1.5, -1.5, 1e300, -inf, NAN});
  add("round", round, [](double x) { return std::nearbyint(x); },
      {0, 0.5, 1.5, 2.5, -0.5, -1.5, 1e300, -inf, NAN});
}

void add_function_rows(OpTable& t) {
  add_elementary(t);
  add_activations(t);
  add_integral(t);
}

const Family family(add_function_rows);

}  // namespace
}  // namespace ladon::test
