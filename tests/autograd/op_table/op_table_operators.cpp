// Rows of the operators that compare (autograd/ops/compare.h) and assign (autograd/ops/inplace.h).

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

template <class F>
void add_comparison(OpTable& t, const std::string& name, const F& f) {
  const auto sample = [&](const std::string& note, std::vector<Tensor> inputs, TensorFunction apply,
                          std::function<double(const std::vector<double>&)> reference) {
    return OpSample{.note = note,
                    .inputs = std::move(inputs),
                    .apply = std::move(apply),
                    .reference = pointwise(std::move(reference)),
                    .differentiable = false};
  };
  const auto both = [f](const auto& v) { return f(v[0], v[1]) ? 1. : 0.; };
  const auto apply = [f](const auto& x) { return f(x[0], x[1]); };
  t.add({.name = name,
         .samples = {sample("row", {t.random({3, 4}), t.random({4})}, apply, both),
                     sample("integers",
                            {t.random_integers({4, 5}, 0, 3), t.random_integers({4, 1}, 0, 3)},
                            apply, both),
                     sample(
                         "number right", {t.random_integers({9}, -2, 3)},
                         [f](const auto& x) { return f(x[0], 1.0); },
                         [f](const auto& v) { return f(v[0], 1.0) ? 1. : 0.; }),
                     sample(
                         "number left", {t.random_integers({9}, -2, 3)},
                         [f](const auto& x) { return f(1.0, x[0]); },
                         [f](const auto& v) { return f(1.0, v[0]) ? 1. : 0.; })},
         .errors = {{"[2, 3]",
                     [f] {
                       f(ones({2, 3}), ones({2}));
                     }},
                    {"is not representable as i64", [f] { f(0.5, ones({2}, i64)); }}}});
}

/// `f(x, y)` edits x, a tensor or a number: from a copy the recorded result, elsewhere the edited
/// one.
template <class F>
void add_assignment(OpTable& t, const std::string& name, const F& f) {
  const auto edited = [f](Tensor x, const auto& y) {
    f(x, y);
    return x;
  };
  const auto sample = [&](const std::string& note, std::vector<Tensor> inputs) {
    return OpSample{.note = note,
                    .inputs = std::move(inputs),
                    .apply = [edited](const auto& x) { return edited(clone(x[0]), x[1]); },
                    .reference = pointwise([f](const auto& v) {
                      double a = v[0];
                      f(a, v[1]);
                      return a;
                    })};
  };
  t.add({.name = name,
         .samples = {sample("equal shapes", {t.random({3, 4}), t.random({3, 4}, 0.5, 2)}),
                     sample("row", {t.random({3, 4}), t.random({4}, 0.5, 2)}),
                     {.note = "number",
                      .inputs = {t.random({3, 4})},
                      .apply = [edited](const auto& x) { return edited(clone(x[0]), 1.5); },
                      .reference = pointwise([f](const auto& v) {
                        double a = v[0];
                        f(a, 1.5);
                        return a;
                      })}},
         .empty = {sample("nothing", {zeros({0, 2}, f64), ones({2}, f64)})},
         .errors = {
             {"the result has shape [2, 3], x [3]", [edited] { edited(ones({3}), ones({2, 3})); }},
             {"the result is f32, but x i64", [edited] { edited(ones({3}, i64), ones({3})); }},
             {"is a leaf", [edited] { edited(ones({3}).set_requires_grad(), ones({3})); }},
             {"is a leaf", [edited] { edited(ones({3}).set_requires_grad(), 2.0); }},
             {"undefined", [edited] { edited(Tensor(), 2.0); }}}});
}

void add_operator_rows(OpTable& t) {
  add_comparison(t, "operator<", [](const auto& a, const auto& b) { return a < b; });
  add_comparison(t, "operator<=", [](const auto& a, const auto& b) { return a <= b; });
  add_comparison(t, "operator>", [](const auto& a, const auto& b) { return a > b; });
  add_comparison(t, "operator>=", [](const auto& a, const auto& b) { return a >= b; });
  add_assignment(t, "operator+=", [](auto& a, const auto& b) { a += b; });
  add_assignment(t, "operator-=", [](auto& a, const auto& b) { a -= b; });
  add_assignment(t, "operator*=", [](auto& a, const auto& b) { a *= b; });
  add_assignment(t, "operator/=", [](auto& a, const auto& b) { a /= b; });
}

const Family family(add_operator_rows);

}  // namespace
}  // namespace ladon::test
