#include "peers.h"

namespace ladon::bench::every {
namespace {

void add_binary(PeerTable& t) {
  for (const char* name : {"add", "add, a row", "add, a transposed matrix", "operator+"})
    t.add(name, [](const P& x) { return x[0] + x[1]; });
  for (const char* name : {"sub", "operator-"}) t.add(name, [](const P& x) { return x[0] - x[1]; });
  for (const char* name : {"mul", "mul, column by row", "operator*"})
    t.add(name, [](const P& x) { return x[0] * x[1]; });
  for (const char* name : {"div", "operator/"}) t.add(name, [](const P& x) { return x[0] / x[1]; });
  t.add("pow", [](const P& x) { return at::pow(x[0], x[1]); });
  t.add("pow, 1.7", [](const P& x) { return at::pow(x[0], 1.7); });
  t.add("pow, 3", [](const P& x) { return at::pow(x[0], 3); });
  t.add("atan2", [](const P& x) { return at::atan2(x[0], x[1]); });
  t.add("maximum", [](const P& x) { return at::maximum(x[0], x[1]); });
  t.add("minimum", [](const P& x) { return at::minimum(x[0], x[1]); });
  t.add("maximum, a number", [](const P& x) { return at::clamp_min(x[0], 0.25); });
  t.add("operator+, a number", [](const P& x) { return x[0] + 1.5; });
  t.add("operator-, from a number", [](const P& x) { return at::rsub(x[0], 1.5); });
  t.add("operator*, a number", [](const P& x) { return x[0] * 1.5; });
  t.add("operator/, by it", [](const P& x) { return 1.5 / x[0]; });
}

void add_functions(PeerTable& t) {
  t.add("neg", [](const P& x) { return at::neg(x[0]); });
  t.add("abs", [](const P& x) { return at::abs(x[0]); });
  t.add("sign", [](const P& x) { return at::sign(x[0]); });
  t.add("floor", [](const P& x) { return at::floor(x[0]); });
  t.add("ceil", [](const P& x) { return at::ceil(x[0]); });
  t.add("round", [](const P& x) { return at::round(x[0]); });
  t.add("square", [](const P& x) { return at::square(x[0]); });
  t.add("sqrt", [](const P& x) { return at::sqrt(x[0]); });
  t.add("rsqrt", [](const P& x) { return at::rsqrt(x[0]); });
  t.add("reciprocal", [](const P& x) { return at::reciprocal(x[0]); });
  t.add("exp", [](const P& x) { return at::exp(x[0]); });
  t.add("expm1", [](const P& x) { return at::expm1(x[0]); });
  t.add("log", [](const P& x) { return at::log(x[0]); });
  t.add("log1p", [](const P& x) { return at::log1p(x[0]); });
  t.add("sin", [](const P& x) { return at::sin(x[0]); });
  t.add("cos", [](const P& x) { return at::cos(x[0]); });
  t.add("tanh", [](const P& x) { return at::tanh(x[0]); });
  t.add("erf", [](const P& x) { return at::erf(x[0]); });
  t.add("sigmoid", [](const P& x) { return at::sigmoid(x[0]); });
  t.add("softplus", [](const P& x) { return at::softplus(x[0]); });
  t.add("relu", [](const P& x) { return at::relu(x[0]); });
  t.add("leaky_relu", [](const P& x) { return at::leaky_relu(x[0]); });
  t.add("elu", [](const P& x) { return at::elu(x[0]); });
  t.add("selu", [](const P& x) { return at::selu(x[0]); });
  t.add("silu", [](const P& x) { return at::silu(x[0]); });
  t.add("gelu", [](const P& x) { return at::gelu(x[0]); });
  t.add("gelu, by tanh", [](const P& x) { return at::gelu(x[0], "tanh"); });
  t.add("clamp", [](const P& x) { return at::clamp(x[0], -0.7, 0.9); });
  t.add("cast", [](const P& x) {
    return x[0].to(x[0].scalar_type() == at::kFloat ? at::kDouble : at::kFloat);
  });
  t.add("lgamma", [](const P& x) { return at::lgamma(x[0]); });
  t.add("digamma", [](const P& x) { return at::digamma(x[0]); });
  t.add("polygamma", [](const P& x) { return at::polygamma(2, x[0]); });
  t.add("dropout", [](const P& x) { return at::dropout(x[0], 0.1, true); });
}

void add_in_place(PeerTable& t) {
  t.add("fill_", [](const P& x) { return x[0].fill_(1.5); });
  t.add("copy_", [](const P& x) { return x[0].copy_(x[1]); });
  t.add("add_", [](const P& x) { return x[0].add_(x[1], 0.5); });
  t.add("operator+=", [](const P& x) { return x[0].add_(x[1]); });
  t.add("operator-=", [](const P& x) { return x[0].sub_(x[1]); });
  for (const char* name : {"mul_", "operator*="})
    t.add(name, [](const P& x) { return x[0].mul_(x[1]); });
  t.add("operator/=", [](const P& x) { return x[0].div_(x[1]); });
}

at::Tensor truth(bool b) { return at::scalar_tensor(b, at::kBool); }

void add_comparisons(PeerTable& t) {
  t.add("equal", [](const P& x) { return at::eq(x[0], x[1]); });
  t.add("not_equal", [](const P& x) { return at::ne(x[0], x[1]); });
  t.add("less", [](const P& x) { return at::lt(x[0], x[1]); });
  t.add("less_equal", [](const P& x) { return at::le(x[0], x[1]); });
  t.add("greater", [](const P& x) { return at::gt(x[0], x[1]); });
  t.add("greater_equal", [](const P& x) { return at::ge(x[0], x[1]); });
  t.add("operator<", [](const P& x) { return x[0] < 0.5; });
  t.add("operator<=", [](const P& x) { return x[0] <= 0.5; });
  t.add("operator>", [](const P& x) { return x[0] > 0.5; });
  t.add("operator>=", [](const P& x) { return x[0] >= 0.5; });
  t.add("logical_and", [](const P& x) { return at::logical_and(x[0], x[1]); });
  t.add("logical_or", [](const P& x) { return at::logical_or(x[0], x[1]); });
  t.add("logical_not", [](const P& x) { return at::logical_not(x[0]); });
  t.add("isnan", [](const P& x) { return at::isnan(x[0]); });
  t.add("isfinite", [](const P& x) { return at::isfinite(x[0]); });
  t.add("where", [](const P& x) { return at::where(x[2], x[0], x[1]); });
  t.add("where, a number", [](const P& x) { return at::where(x[2], x[0], -1.0); });
  t.add("masked_fill", [](const P& x) { return at::masked_fill(x[0], x[2], -1); });
  t.add("all_equal", [](const P& x) { return truth(at::equal(x[0], x[1])); });
  t.add("all_close", [](const P& x) { return truth(at::allclose(x[0], x[1])); });
}

}  // namespace

void add_pointwise(PeerTable& t) {
  add_binary(t);
  add_functions(t);
  add_in_place(t);
  add_comparisons(t);
}

}  // namespace ladon::bench::every
