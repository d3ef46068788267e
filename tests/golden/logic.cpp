// ONNX operators: comparisons, logic, selection and conversion of element types.

#include <limits>

#include "case.h"
#include "ladon/autograd/ops.h"

namespace ladon::golden {
namespace {

using Comparison = Tensor (*)(const Tensor&, const Tensor&);
template <Comparison f>
Tensors compare(const Case& c) {
  return {f(c.in(0), second_operand(c))};
}

Tensor is_infinite(const Case& c) {
  const Tensor& x = c.in(0);
  const double infinity = std::numeric_limits<double>::infinity();
  Tensor y = zeros(x.shape(), boolean);
  if (c.flag("detect_positive", true)) y = logical_or(y, equal(x, infinity));
  if (c.flag("detect_negative", true)) y = logical_or(y, equal(x, -infinity));
  return y;
}

}  // namespace

void add_logic(Table& t) {
  t["Equal"] = compare<equal>;
  t["Less"] = compare<less>;
  t["LessOrEqual"] = compare<less_equal>;
  t["Greater"] = compare<greater>;
  t["GreaterOrEqual"] = compare<greater_equal>;
  t["And"] = compare<logical_and>;
  t["Or"] = compare<logical_or>;
  t["Xor"] = compare<not_equal>;
  t["Not"] = [](const Case& c) -> Tensors { return {logical_not(c.in(0))}; };
  t["IsNaN"] = [](const Case& c) -> Tensors { return {isnan(c.in(0))}; };
  t["IsInf"] = [](const Case& c) -> Tensors { return {is_infinite(c)}; };
  t["Where"] = [](const Case& c) -> Tensors { return {where(c.in(0), c.in(1), c.in(2))}; };
  t["Cast"] = [](const Case& c) -> Tensors {
    return {cast(c.in(0), onnx_dtype(c.integer("to", 1)))};
  };
  t["CastLike"] = [](const Case& c) -> Tensors { return {cast(c.in(0), c.in(1).dtype())}; };
}

}  // namespace ladon::golden
