// Operations on elements (autograd/ops/pointwise.h, special.h, compare.h, inplace.h, dropout.h).

#include <memory>

#include "entries.h"
#include "ladon/autograd/extra/special/special.h"
#include "ladon/autograd/ops.h"

namespace ladon::bench::every {
namespace {

using X = Tensors;

Tensors column_and_row(Draw& d) {
  const Shape shape = d.matrix();
  return {d.normal({shape[0], 1}), d.normal({shape[1]})};
}
Tensors matrix_and_row(Draw& d) { return {d.normal(d.matrix()), d.normal({d.matrix()[1]})}; }
Tensors matrix_and_transposed(Draw& d) {
  const Shape shape = d.matrix();
  return {d.normal(shape), transpose(d.normal({shape[1], shape[0]}))};
}

void add_binary(Table& t) {
  t.add("add", lines, [](const X& x) { return add(x[0], x[1]); });
  t.add("add, a row", matrix_and_row, [](const X& x) { return add(x[0], x[1]); });
  t.add("add, a transposed matrix", matrix_and_transposed,
        [](const X& x) { return add(x[0], x[1]); });
  t.add("sub", lines, [](const X& x) { return sub(x[0], x[1]); });
  t.add("mul", lines, [](const X& x) { return mul(x[0], x[1]); });
  t.add("mul, column by row", column_and_row, [](const X& x) { return mul(x[0], x[1]); });
  t.add("div", positive_lines, [](const X& x) { return div(x[0], x[1]); });
  t.add("pow", positive_lines, [](const X& x) { return pow(x[0], x[1]); });
  t.add("pow, 1.7", positive_line, [](const X& x) { return pow(x[0], 1.7); });
  t.add("pow, 3", line, [](const X& x) { return pow(x[0], 3); });
  t.add("atan2", lines, [](const X& x) { return atan2(x[0], x[1]); });
  t.add("maximum", lines, [](const X& x) { return maximum(x[0], x[1]); });
  t.add("minimum", lines, [](const X& x) { return minimum(x[0], x[1]); });
  t.add("maximum, a number", line, [](const X& x) { return maximum(x[0], 0.25); });
  t.add("operator+", lines, [](const X& x) { return x[0] + x[1]; });
  t.add("operator-", lines, [](const X& x) { return x[0] - x[1]; });
  t.add("operator*", lines, [](const X& x) { return x[0] * x[1]; });
  t.add("operator/", positive_lines, [](const X& x) { return x[0] / x[1]; });
  t.add("operator+, a number", line, [](const X& x) { return x[0] + 1.5; });
  t.add("operator-, from a number", line, [](const X& x) { return 1.5 - x[0]; });
  t.add("operator*, a number", line, [](const X& x) { return x[0] * 1.5; });
  t.add("operator/, by it", positive_line, [](const X& x) { return 1.5 / x[0]; });
}

void add_functions(Table& t) {
  t.add("neg", line, [](const X& x) { return neg(x[0]); });
  t.add("abs", line, [](const X& x) { return abs(x[0]); });
  t.add("sign", line, [](const X& x) { return sign(x[0]); });
  t.add("floor", line, [](const X& x) { return floor(x[0]); });
  t.add("ceil", line, [](const X& x) { return ceil(x[0]); });
  t.add("round", line, [](const X& x) { return round(x[0]); });
  t.add("square", line, [](const X& x) { return square(x[0]); });
  t.add("sqrt", positive_line, [](const X& x) { return sqrt(x[0]); });
  t.add("rsqrt", positive_line, [](const X& x) { return rsqrt(x[0]); });
  t.add("reciprocal", positive_line, [](const X& x) { return reciprocal(x[0]); });
  t.add("exp", line, [](const X& x) { return exp(x[0]); });
  t.add("expm1", line, [](const X& x) { return expm1(x[0]); });
  t.add("log", positive_line, [](const X& x) { return log(x[0]); });
  t.add("log1p", positive_line, [](const X& x) { return log1p(x[0]); });
  t.add("sin", line, [](const X& x) { return sin(x[0]); });
  t.add("cos", line, [](const X& x) { return cos(x[0]); });
  t.add("tanh", line, [](const X& x) { return tanh(x[0]); });
  t.add("erf", line, [](const X& x) { return erf(x[0]); });
  t.add("sigmoid", line, [](const X& x) { return sigmoid(x[0]); });
  t.add("softplus", line, [](const X& x) { return softplus(x[0]); });
  t.add("relu", line, [](const X& x) { return relu(x[0]); });
  t.add("leaky_relu", line, [](const X& x) { return leaky_relu(x[0]); });
  t.add("elu", line, [](const X& x) { return elu(x[0]); });
  t.add("selu", line, [](const X& x) { return selu(x[0]); });
  t.add("silu", line, [](const X& x) { return silu(x[0]); });
  t.add("gelu", line, [](const X& x) { return gelu(x[0]); });
  t.add("gelu, by tanh", line, [](const X& x) { return gelu(x[0], Gelu::tanh); });
  t.add("clamp", line, [](const X& x) { return clamp(x[0], -0.7, 0.9); });
  t.add("cast", line, [](const X& x) { return cast(x[0], x[0].dtype() == f32 ? f64 : f32); });
  // these cost a hundred times what a number of memory does
  const auto fewer = [](Draw& d) -> X { return {d.between(0.1, 2, {d.of(64, 16384, 262'144)})}; };
  t.add("lgamma", fewer, [](const X& x) { return lgamma(x[0]); });
  t.add("digamma", fewer, [](const X& x) { return digamma(x[0]); });
  t.add("polygamma", fewer, [](const X& x) { return polygamma(2, x[0]); });
  t.add_made("dropout",
             [](Draw& d) -> Sample {
               const auto rng = std::make_shared<Generator>(5);
               return {line(d), [rng](const X& x) { return dropout(x[0], 0.1, *rng); }};
             },
             {.compared = -1});
}

/// Of the first input, which it changes in place.
Function in_place(std::function<void(Tensor& y, const X& x)> change) {
  return [change](const X& x) {
    Tensor y = x[0];
    change(y, x);
    return y;
  };
}
/// The second: signs, by which a product keeps its size however often it is taken.
Tensors with_signs(Draw& d) { return {d.normal(d.line()), d.signs(d.line())}; }

void add_in_place(Table& t) {
  const Traits once{.gradient = false};
  t.add("fill_", line, in_place([](Tensor& y, const X&) { fill_(y, 1.5); }), once);
  t.add("copy_", lines, in_place([](Tensor& y, const X& x) { copy_(y, x[1]); }), once);
  t.add("add_", lines, in_place([](Tensor& y, const X& x) { add_(y, x[1], 0.5); }), once);
  t.add("mul_", with_signs, in_place([](Tensor& y, const X& x) { mul_(y, x[1]); }), once);
  t.add("operator+=", lines, in_place([](Tensor& y, const X& x) { y += x[1]; }), once);
  t.add("operator-=", lines, in_place([](Tensor& y, const X& x) { y -= x[1]; }), once);
  t.add("operator*=", with_signs, in_place([](Tensor& y, const X& x) { y *= x[1]; }), once);
  t.add("operator/=", with_signs, in_place([](Tensor& y, const X& x) { y /= x[1]; }), once);
}

}  // namespace

void add_pointwise(Table& t) {
  t.family("pointwise");
  add_binary(t);
  add_functions(t);
  add_in_place(t);
}

void add_comparisons(Table& t) {
  t.family("comparisons");
  const Traits forward{.gradient = false}, of_booleans{.gradient = false, .f64_too = false};
  t.add(
      "equal", lines, [](const X& x) { return equal(x[0], x[1]); }, forward);
  t.add(
      "not_equal", lines, [](const X& x) { return not_equal(x[0], x[1]); }, forward);
  t.add(
      "less", lines, [](const X& x) { return less(x[0], x[1]); }, forward);
  t.add(
      "less_equal", lines, [](const X& x) { return less_equal(x[0], x[1]); }, forward);
  t.add(
      "greater", lines, [](const X& x) { return greater(x[0], x[1]); }, forward);
  t.add(
      "greater_equal", lines, [](const X& x) { return greater_equal(x[0], x[1]); }, forward);
  t.add(
      "operator<", line, [](const X& x) { return x[0] < 0.5; }, forward);
  t.add(
      "operator<=", line, [](const X& x) { return x[0] <= 0.5; }, forward);
  t.add(
      "operator>", line, [](const X& x) { return x[0] > 0.5; }, forward);
  t.add(
      "operator>=", line, [](const X& x) { return x[0] >= 0.5; }, forward);
  const auto booleans = [](Draw& d) -> X { return {d.booleans(d.line()), d.booleans(d.line())}; };
  t.add(
      "logical_and", booleans, [](const X& x) { return logical_and(x[0], x[1]); }, of_booleans);
  t.add(
      "logical_or", booleans, [](const X& x) { return logical_or(x[0], x[1]); }, of_booleans);
  t.add(
      "logical_not", booleans, [](const X& x) { return logical_not(x[0]); }, of_booleans);
  t.add(
      "isnan", line, [](const X& x) { return isnan(x[0]); }, forward);
  t.add(
      "isfinite", line, [](const X& x) { return isfinite(x[0]); }, forward);
  const auto masked = [](Draw& d) -> X {
    return {d.normal(d.line()), d.normal(d.line()), d.booleans(d.line())};
  };
  t.add("where", masked, [](const X& x) { return where(x[2], x[0], x[1]); });
  t.add("where, a number", masked, [](const X& x) { return where(x[2], x[0], -1.0); },
        {.differentiated = 1});
  t.add("masked_fill", masked, [](const X& x) { return masked_fill(x[0], x[2], -1); },
        {.differentiated = 1});
  const auto twins = [](Draw& d) -> X {
    const Tensor x = d.normal(d.line());
    return {x, clone(x)};
  };
  const auto truth = [](bool b) { return full({}, b, boolean); };
  t.add(
      "all_equal", twins, [=](const X& x) { return truth(all_equal(x[0], x[1])); }, forward);
  t.add(
      "all_close", twins, [=](const X& x) { return truth(all_close(x[0], x[1])); }, forward);
}

}  // namespace ladon::bench::every
