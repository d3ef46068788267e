// Random calls of pointwise operations, comparisons, and in-place operations.

#include "table.h"

namespace ladon::test {
namespace {

void add_arithmetic(CallTable& table) {
  table.add("add", add, any_tensor, partner);
  table.add("sub", sub, any_tensor, partner);
  table.add("mul", mul, any_tensor, partner);
  table.add("div", div, any_tensor, partner);
  using Binary = Tensor (*)(const Tensor&, const Tensor&);
  using WithNumber = Tensor (*)(const Tensor&, double);
  table.add("pow", static_cast<Binary>(pow), any_tensor, partner);
  table.add("pow", static_cast<WithNumber>(pow), any_tensor, number);
  table.add("atan2", atan2, any_tensor, partner);
  table.add("operator+", static_cast<Binary>(operator+), any_tensor, partner);
  table.add("operator-", static_cast<Binary>(operator-), any_tensor, partner);
  table.add("operator*", static_cast<Binary>(operator*), any_tensor, partner);
  table.add("operator/", static_cast<Binary>(operator/), any_tensor, partner);
  table.add("operator+", static_cast<WithNumber>(operator+), any_tensor, number);
  table.add("operator-", static_cast<WithNumber>(operator-), any_tensor, number);
  table.add("operator*", static_cast<WithNumber>(operator*), any_tensor, number);
  table.add("operator/", static_cast<WithNumber>(operator/), any_tensor, number);
  using NumberFirst = Tensor (*)(double, const Tensor&);
  table.add("operator+", static_cast<NumberFirst>(operator+), number, any_tensor);
  table.add("operator-", static_cast<NumberFirst>(operator-), number, any_tensor);
  table.add("operator*", static_cast<NumberFirst>(operator*), number, any_tensor);
  table.add("operator/", static_cast<NumberFirst>(operator/), number, any_tensor);
  table.add(
      "operator-", [](const Tensor& x) { return -x; }, any_tensor);
  const std::vector<std::tuple<const char*, Binary, WithNumber, NumberFirst>> all_forms{
      {"maximum", maximum, maximum, maximum}, {"minimum", minimum, minimum, minimum},
      {"operator<", operator<, operator<, operator<},
       {"operator<=", operator<=, operator<=, operator<= },
        {"operator>", operator>, operator>, operator> },
         {"operator>=", operator>=, operator>=, operator>= } };
  for (const auto& [name, of_two, with_number, number_first] : all_forms) {
    table.add(name, of_two, any_tensor, partner);
    table.add(name, with_number, any_tensor, number);
    table.add(name, number_first, number, any_tensor);
  }
}

void add_functions(CallTable& table) {
  using Function = Tensor (*)(const Tensor&);
  const std::vector<std::pair<const char*, Function>> functions{{"neg", neg},
                                                                {"abs", abs},
                                                                {"sign", sign},
                                                                {"floor", floor},
                                                                {"ceil", ceil},
                                                                {"round", round},
                                                                {"square", square},
                                                                {"sqrt", sqrt},
                                                                {"rsqrt", rsqrt},
                                                                {"exp", exp},
                                                                {"reciprocal", reciprocal},
                                                                {"expm1", expm1},
                                                                {"log", log},
                                                                {"log1p", log1p},
                                                                {"sin", sin},
                                                                {"cos", cos},
                                                                {"tanh", tanh},
                                                                {"erf", erf},
                                                                {"sigmoid", sigmoid},
                                                                {"softplus", softplus},
                                                                {"relu", relu},
                                                                {"selu", selu},
                                                                {"silu", silu},
                                                                {"isnan", isnan},
                                                                {"isfinite", isfinite},
                                                                {"logical_not", logical_not}};
  for (const auto& [name, function] : functions) table.add(name, function, any_tensor);
  table.add("leaky_relu", leaky_relu, any_tensor, number);
  table.add("elu", elu, any_tensor, number);
  table.add("gelu", gelu, any_tensor, [](Draw& d) { return d.flag() ? Gelu::exact : Gelu::tanh; });
  table.add("clamp", clamp, any_tensor, number, number);
  table.add("cast", cast, any_tensor, dtype);
}

void add_comparisons(CallTable& table) {
  using Binary = Tensor (*)(const Tensor&, const Tensor&);
  using WithNumber = Tensor (*)(const Tensor&, double);
  const std::vector<std::tuple<const char*, Binary, WithNumber>> comparisons{
      {"equal", equal, equal},       {"not_equal", not_equal, not_equal},
      {"less", less, less},          {"less_equal", less_equal, less_equal},
      {"greater", greater, greater}, {"greater_equal", greater_equal, greater_equal}};
  for (const auto& [name, binary, with_number] : comparisons) {
    table.add(name, binary, any_tensor, partner);
    table.add(name, with_number, any_tensor, number);
  }
  table.add("logical_and", logical_and, mask, mask);
  table.add("logical_or", logical_or, mask, mask);
  table.add("where", static_cast<Tensor (*)(const Tensor&, const Tensor&, const Tensor&)>(where),
            mask, partner, partner);
  table.add("where", static_cast<Tensor (*)(const Tensor&, const Tensor&, double)>(where), mask,
            partner, number);
  table.add("where", static_cast<Tensor (*)(const Tensor&, double, const Tensor&)>(where), mask,
            number, partner);
  table.add("masked_fill", masked_fill, any_tensor, mask, number);
  table.add("all_equal", all_equal, any_tensor, twin);
  table.add("same_elements", same_elements, any_tensor, twin);
  table.add("all_close", all_close, any_tensor, twin, number, number);
}

void add_edits(CallTable& table) {
  table.add("fill_", fill_, any_tensor, number);
  table.add("copy_", copy_, any_tensor, partner);
  table.add("add_", add_, any_tensor, partner, number);
  table.add("mul_", static_cast<void (*)(Tensor, const Tensor&)>(mul_), any_tensor, partner);
  table.add("mul_", static_cast<void (*)(Tensor, double)>(mul_), any_tensor, number);
  using Assign = Tensor& (*)(Tensor&, const Tensor&);
  using AssignNumber = Tensor& (*)(Tensor&, double);
  const std::vector<std::tuple<const char*, Assign, AssignNumber>> assignments{
      {"operator+=", operator+=, operator+= },
       {"operator-=", operator-=, operator-= },
        {"operator*=", operator*=, operator*= }, {"operator/=", operator/=, operator/= } };
  for (const auto& [name, of_two, with_number] : assignments) {
    table.add(
        name, [f = of_two](Tensor x, const Tensor& y) { return f(x, y); }, any_tensor, partner);
    table.add(
        name, [f = with_number](Tensor x, double s) { return f(x, s); }, any_tensor, number);
  }
}

}  // namespace

void add_pointwise_calls(CallTable& table) {
  add_arithmetic(table);
  add_functions(table);
  add_comparisons(table);
  add_edits(table);
}

}  // namespace ladon::test
