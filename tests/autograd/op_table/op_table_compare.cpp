// Rows of comparisons, logic and selection (autograd/ops/compare.h).

#include <cmath>
#include <limits>

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

OpSample value(const std::string& note, std::vector<Tensor> inputs, TensorFunction apply,
               std::function<double(const std::vector<double>&)> reference) {
  return {.note = note,
          .inputs = std::move(inputs),
          .apply = std::move(apply),
          .reference = pointwise(std::move(reference)),
          .differentiable = false};
}

using Compare = Tensor (*)(const Tensor&, const Tensor&);
using CompareNumber = Tensor (*)(const Tensor&, double);

void add_comparison(OpTable& t, const std::string& name, Compare f, CompareNumber with_number,
                    bool (*holds)(double, double)) {
  const auto apply = [f](const auto& x) { return f(x[0], x[1]); };
  const auto reference = [holds](const auto& v) { return holds(v[0], v[1]) ? 1. : 0.; };
  const Tensor special = tensor({0, 1, NAN, inf, -inf, NAN}, f64);
  t.add({.name = name,
         .samples = {value("equal shapes", {t.random({3, 4}), t.random({3, 4})}, apply, reference),
                     value("row", {t.random({3, 4}), t.random({4})}, apply, reference),
                     value("small integers",
                           {t.random_integers({4, 5}, 0, 3), t.random_integers({4, 1}, 0, 3)},
                           apply, reference),
                     value("booleans", {t.random_booleans({9}), t.random_booleans({9})}, apply,
                           reference),
                     value("special", {special, tensor({0, 2, NAN, inf, inf, 1}, f64)}, apply,
                           reference),
                     value(
                         "number", {t.random_integers({9}, -2, 2)},
                         [with_number](const auto& x) { return with_number(x[0], -1); },
                         [holds](const auto& v) { return holds(v[0], -1) ? 1. : 0.; })},
         .empty = {value("nothing", {zeros({0, 3}), ones({3})}, apply, reference)},
         .errors = {{"[2, 3]", [f] { f(ones({2, 3}), ones({2})); }},
                    {"is not representable as i64",
                     [with_number] { with_number(ones({2}, i64), 0.5); }}}});
}

void add_logic(OpTable& t) {
  const auto add = [&](const char* name, Compare f, bool (*holds)(bool, bool)) {
    const auto apply = [f](const auto& x) { return f(x[0], x[1]); };
    const auto reference = [holds](const auto& v) { return holds(v[0] != 0, v[1] != 0) ? 1. : 0.; };
    t.add(
        {.name = name,
         .samples = {value("equal shapes", {t.random_booleans({4, 5}), t.random_booleans({4, 5})},
                           apply, reference),
                     value("column", {t.random_booleans({4, 5}), t.random_booleans({4, 1})}, apply,
                           reference)},
         .empty = {value("nothing", {zeros({0}, boolean), zeros({1}, boolean)}, apply, reference)},
         .errors = {{"bool", [f] { f(ones({2}), ones({2}, boolean)); }},
                    {"bool", [f] { f(ones({2}, boolean), ones({2}, i64)); }},
                    {"[3]", [f] { f(ones({2}, boolean), ones({3}, boolean)); }}},
         .broadcasts = true});
  };
  add("logical_and", logical_and, [](bool a, bool b) { return a && b; });
  add("logical_or", logical_or, [](bool a, bool b) { return a || b; });

  const auto apply = [](const auto& x) { return logical_not(x[0]); };
  const auto reference = [](const auto& v) { return v[0] == 0 ? 1. : 0.; };
  t.add({.name = "logical_not",
         .samples = {value("matrix", {t.random_booleans({3, 4})}, apply, reference)},
         .empty = {value("nothing", {zeros({0}, boolean)}, apply, reference)},
         .errors = {{"bool", [] { logical_not(ones({2})); }}}});
}

void add_classes(OpTable& t) {
  const Tensor special = tensor({0, -1, NAN, inf, -inf, 1e308}, f64);
  const auto add = [&](const char* name, Tensor (*f)(const Tensor&), double (*reference)(double)) {
    const auto apply = [f](const auto& x) { return f(x[0]); };
    const auto of = [reference](const auto& v) { return reference(v[0]); };
    t.add({.name = name,
           .samples = {value("random", {t.random({2, 3})}, apply, of),
                       value("special", {special}, apply, of),
                       value("integers", {t.random_integers({3}, -5, 5)}, apply, of)},
           .empty = {value("nothing", {zeros({0}, f64)}, apply, of)},
           .errors = {{"undefined", [f] { f(Tensor()); }}}});
  };
  add("isnan", isnan, [](double v) { return v != v ? 1. : 0.; });
  add("isfinite", isfinite, [](double v) { return std::isfinite(v) ? 1. : 0.; });
}

double choose(const std::vector<double>& v) { return v[0] != 0 ? v[1] : v[2]; }

void add_selection(OpTable& t) {
  const auto select = [](const auto& x) { return where(x[0], x[1], x[2]); };
  const auto sample = [&](const std::string& note, std::vector<Tensor> inputs) {
    return OpSample{
        .note = note, .inputs = std::move(inputs), .apply = select, .reference = pointwise(choose)};
  };
  OpSample integers =
      sample("integers", {t.random_booleans({4}), tensor({1, 2, 3, 4}, i64), tensor({5}, i64)});
  integers.differentiable = false;
  const OpSample number_right{
      .note = "number right",
      .inputs = {t.random_booleans({3, 4}), t.random({4})},
      .apply = [](const auto& x) { return where(x[0], x[1], 0); },
      .reference = pointwise([](const auto& v) { return v[0] != 0 ? v[1] : 0; })};
  const OpSample number_left{
      .note = "number left",
      .inputs = {t.random_booleans({3, 1}), t.random({3, 4})},
      .apply = [](const auto& x) { return where(x[0], -1.5, x[1]); },
      .reference = pointwise([](const auto& v) { return v[0] != 0 ? -1.5 : v[1]; })};
  t.add({.name = "where",
         .samples = {sample("equal shapes",
                            {t.random_booleans({3, 4}), t.random({3, 4}), t.random({3, 4})}),
                     sample("all broadcast",
                            {t.random_booleans({2, 1, 4}), t.random({3, 1}), t.random({})}),
                     sample("condition is larger",
                            {t.random_booleans({3, 4}), t.random({4}), t.random({1, 1})}),
                     integers, number_right, number_left},
         .empty = {sample("nothing", {zeros({0}, boolean), zeros({0}, f64), zeros({1}, f64)})},
         .errors = {{"bool", [] { where(ones({2}), ones({2}), ones({2})); }},
                    {"[3]", [] { where(ones({2}, boolean), ones({3}), ones({1})); }},
                    {"not an integer", [] { where(ones({2}, boolean), ones({2}, i64), 0.5); }}},
         .broadcasts = true});

  const auto filled = [&](const std::string& note, const Tensor& x, const Tensor& mask,
                          double with) {
    return OpSample{
        .note = note,
        .inputs = {x, mask},
        .apply = [with](const auto& in) { return masked_fill(in[0], in[1], with); },
        .reference = pointwise([with](const auto& v) { return v[1] != 0 ? with : v[0]; })};
  };
  OpSample infinite = filled("infinite", t.random({2, 3}), t.random_booleans({2, 1}), -inf);
  infinite.differentiable = false;  // a difference of infinities is NaN
  t.add(
      {.name = "masked_fill",
       .samples = {filled("equal shapes", t.random({3, 4}), t.random_booleans({3, 4}), -7),
                   filled("row", t.random({3, 4}), t.random_booleans({4}), 0), infinite},
       .empty = {filled("nothing", zeros({0, 2}, f64), zeros({2}, boolean), 1)},
       .errors = {{"bool", [] { masked_fill(ones({2}), ones({2}), 0); }},
                  {"does not broadcast to x",
                   [] { masked_fill(ones({1}), ones({2}, boolean), 0); }},
                  {"not an integer", [] { masked_fill(ones({2}, i64), ones({2}, boolean), 0.5); }}},
       .broadcasts = true});
}

Reference constant(bool truth) {
  return [truth](const auto&) {
    Dense y{Shape{}};
    y({}) = truth;
    return y;
  };
}

void add_agreement(OpTable& t) {
  const auto sample = [](const std::string& note, auto f, const Tensor& a, const Tensor& b,
                         bool truth) {
    return OpSample{.note = note,
                    .inputs = {a, b},
                    .apply = [f](const auto& x) { return scalar(f(x[0], x[1]), boolean); },
                    .reference = constant(truth),
                    .differentiable = false};
  };
  const Tensor x = t.random({3, 4}), infinite = tensor({inf, -inf, 1}, f64);
  const Tensor nan = tensor({NAN, 1}, f64);
  const auto same = [](const Tensor& a, const Tensor& b) { return all_equal(a, b); };
  t.add({.name = "all_equal",
         .maps = false,
         .samples = {sample("itself", same, x, x, true), sample("other", same, x, x + 1, false),
                     sample("one element", same, tensor({1, 2}), tensor({1, 3}), false),
                     sample("shapes", same, ones({2}), ones({1, 2}), false),
                     sample("dtypes", same, ones({2}), ones({2}, i64), true),
                     sample("NaN", same, nan, nan, false)},
         .empty = {sample("nothing", same, zeros({0}), zeros({0}), true)},
         .errors = {{"undefined", [] { all_equal(Tensor(), ones({1})); }}}});

  const auto close = [](const Tensor& a, const Tensor& b) { return all_close(a, b); };
  const auto loose = [](const Tensor& a, const Tensor& b) { return all_close(a, b, 0.1, 0); };
  t.add({.name = "all_close",
         .maps = false,
         .samples = {sample("itself", close, x, x, true),
                     sample("near", close, x, x * (1 + 9e-6), true),
                     sample("off", close, ones({2}), tensor({1, 1.0001}), false),
                     sample("relative to b", loose, tensor({10}), tensor({9}), false),
                     sample("relative to b, within", loose, tensor({9}), tensor({10}), true),
                     sample("infinite", close, infinite, infinite, true),
                     sample("finite and infinite", close, tensor({1}), tensor({inf}), false),
                     sample("opposite", close, tensor({inf}), tensor({-inf}), false),
                     sample("integers", close, tensor({3}, i64), tensor({4}, i64), false),
                     sample("shapes", close, ones({2}), ones({1}), false),
                     sample("NaN", close, nan, nan, false)},
         .empty = {sample("nothing", close, zeros({0, 2}), zeros({0, 2}), true)},
         .errors = {{"undefined", [] { all_close(ones({1}), Tensor()); }}}});
}

void add_compare_rows(OpTable& t) {
  add_comparison(t, "equal", equal, equal, [](double a, double b) { return a == b; });
  add_comparison(t, "not_equal", not_equal, not_equal, [](double a, double b) { return a != b; });
  add_comparison(t, "less", less, less, [](double a, double b) { return a < b; });
  add_comparison(t, "less_equal", less_equal, less_equal,
                 [](double a, double b) { return a <= b; });
  add_comparison(t, "greater", greater, greater, [](double a, double b) { return a > b; });
  add_comparison(t, "greater_equal", greater_equal, greater_equal,
                 [](double a, double b) { return a >= b; });
  add_logic(t);
  add_classes(t);
  add_selection(t);
  add_agreement(t);
}

const Family family(add_compare_rows);

}  // namespace
}  // namespace ladon::test
