// Rows of the operations on two operands, of clamp and cast (autograd/ops/pointwise.h).

#include <cmath>

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

using Binary = std::function<Tensor(const Tensor&, const Tensor&)>;
using Scalar = std::function<double(double, double)>;

OpSample sample(const std::string& note, const Tensor& a, const Tensor& b, const Binary& f,
                const Scalar& reference) {
  return {.note = note,
          .inputs = {a, b},
          .apply = [f](const auto& x) { return f(x[0], x[1]); },
          .reference = pointwise([reference](const auto& v) { return reference(v[0], v[1]); })};
}

OpSample one(const std::string& note, const Tensor& a,
             const std::function<Tensor(const Tensor&)>& f,
             const std::function<double(double)>& reference) {
  return {.note = note,
          .inputs = {a},
          .apply = [f](const auto& x) { return f(x[0]); },
          .reference = pointwise([reference](const auto& v) { return reference(v[0]); })};
}

/// Samples of equal, broadcast, scalar and integer operands, drawn from [low, high).
OpRow binary_row(OpTable& t, const std::string& name, const Binary& f, const Scalar& reference,
                 double low = -2, double high = 2) {
  const auto draw = [&](const Shape& shape) { return t.random(shape, low, high); };
  OpRow row{.name = name,
            .samples = {sample("equal shapes", draw({3, 4}), draw({3, 4}), f, reference),
                        sample("row", draw({3, 4}), draw({4}), f, reference),
                        sample("column and row", draw({2, 3, 1}), draw({1, 4}), f, reference),
                        sample("scalar", draw({}), draw({2, 3}), f, reference),
                        sample("integers", tensor({3, -1, 2}, i64), tensor({2, 4, 1}, i64), f,
                               reference)},
            .empty = {sample("no rows", zeros({0, 3}, f64), ones({3}, f64), f, reference)},
            .errors = {{"[2, 3]",
                        [f] {
                          f(ones({2, 3}), ones({2}));
                        }},
                       {"undefined", [f] { f(Tensor(), ones({2})); }}},
            .broadcasts = true};
  row.samples.back().differentiable = false;
  return row;
}

void add_arithmetic(OpTable& t) {
  const Scalar plus = [](double a, double b) { return a + b; };
  const Scalar minus = [](double a, double b) { return a - b; };
  const Scalar times = [](double a, double b) { return a * b; };
  const Scalar over = [](double a, double b) { return a / b; };
  t.add(binary_row(t, "add", add, plus));
  t.add(binary_row(t, "sub", sub, minus));
  t.add(binary_row(t, "mul", mul, times));
  t.add(binary_row(t, "div", div, over, 0.5, 2));

  // The operators, and the same with a number on either side.
  const auto with_numbers = [&](OpRow row, auto op, const Scalar& f) {
    row.samples.push_back(one(
        "number right", t.random({3, 2}, 0.5, 2), [op](const Tensor& x) { return op(x, 1.5); },
        [f](double v) { return f(v, 1.5); }));
    row.samples.push_back(one(
        "number left", t.random({3, 2}, 0.5, 2), [op](const Tensor& x) { return op(-2.5, x); },
        [f](double v) { return f(-2.5, v); }));
    row.broadcasts = false;  // checked with the function of the same meaning
    if (row.name != "operator/")
      row.errors.push_back({"is not representable as i64", [op] { op(ones({2}, i64), 0.5); }});
    return row;
  };
  t.add(with_numbers(
      binary_row(t, "operator+", add, plus), [](const auto& a, const auto& b) { return a + b; },
      plus));
  t.add(with_numbers(
      binary_row(t, "operator*", mul, times), [](const auto& a, const auto& b) { return a * b; },
      times));
  t.add(with_numbers(
      binary_row(t, "operator/", div, over, 0.5, 2),
      [](const auto& a, const auto& b) { return a / b; }, over));
  OpRow difference = with_numbers(
      binary_row(t, "operator-", sub, minus), [](const auto& a, const auto& b) { return a - b; },
      minus);
  difference.samples.push_back(one(
      "negation", t.random({4}), [](const Tensor& x) { return -x; }, [](double v) { return -v; }));
  t.add(difference);
}

void add_pow(OpTable& t) {
  const Binary f = [](const Tensor& a, const Tensor& b) { return pow(a, b); };
  const Scalar reference = [](double a, double b) { return std::pow(a, b); };
  OpRow row = binary_row(t, "pow", f, reference, 0.3, 2);
  for (const double s : {2.0, -1.5, 0.5, 1.0, 0.0, 3.0})
    row.samples.push_back(one(
        detail::join("to the ", s), t.random({3, 2}, 0.4, 2),
        [s](const Tensor& x) { return pow(x, s); }, [s](double v) { return std::pow(v, s); }));
  row.samples.push_back(one(
      "negative base", t.random({5}, -2, -0.5), [](const Tensor& x) { return pow(x, 3); },
      [](double v) { return v * v * v; }));
  row.samples.push_back(sample("special", tensor({0, 0, -8, -8, 2}, f64),
                               tensor({0, 2, 3, 1. / 3, -1}, f64), f, reference));
  row.samples.back().differentiable = false;
  row.errors.push_back({"negative power", [] { pow(ones({2}, i64), -1); }});
  row.errors.push_back({"negative power", [] { pow(ones({2}, i64), -ones({2}, i64)); }});
  t.add(row);
}

void add_extremes(OpTable& t) {
  OpRow angle = binary_row(t, "atan2", atan2, [](double y, double x) { return std::atan2(y, x); });
  angle.samples.pop_back();  // integers: computed in f32
  angle.samples.push_back(sample("edges", tensor({0, 0, 0, 1, -1}, f64),
                                 tensor({0, 1, -1, 0, 0}, f64), atan2,
                                 [](double y, double x) { return std::atan2(y, x); }));
  angle.samples.back().differentiable = false;
  t.add(angle);
  const auto with_numbers = [&](const std::string& name, auto f, const Scalar& reference) {
    OpRow row = binary_row(t, name, f, reference);
    row.broadcasts = true;
    for (const bool left : {false, true}) {
      row.samples.push_back(one(
          left ? "number left" : "number right", t.random({3, 4}),
          [=](const Tensor& x) { return left ? f(0.25, x) : f(x, 0.25); },
          [=](double v) { return reference(v, 0.25); }));
      row.errors.push_back({"is not representable as i64",
                            [=] { left ? f(0.5, ones({2}, i64)) : f(ones({2}, i64), 0.5); }});
    }
    t.add(row);
  };
  with_numbers(
      "maximum", [](const auto& a, const auto& b) { return maximum(a, b); },
      [](double a, double b) { return a != a || b != b ? NAN : std::max(a, b); });
  with_numbers(
      "minimum", [](const auto& a, const auto& b) { return minimum(a, b); },
      [](double a, double b) { return a != a || b != b ? NAN : std::min(a, b); });
}

void add_clamp_and_cast(OpTable& t) {
  const auto clamped = [](double low, double high) {
    return std::pair([=](const Tensor& x) { return clamp(x, low, high); },
                     [=](double v) { return v != v ? v : std::min(std::max(v, low), high); });
  };
  const auto [inside, inside_of] = clamped(-0.7, 0.9);
  const auto [below, below_of] = clamped(-HUGE_VAL, 0.25);
  OpSample integers = one("integers", tensor({-9, -1, 0, 1, 9}, i64), inside, [](double v) {
    return std::min(std::max(v, 0.0), 0.0);  // the integers in [−0.7, 0.9]
  });
  integers.differentiable = false;
  t.add({.name = "clamp",
         .samples = {one("both ends", t.random({4, 5}), inside, inside_of),
                     one("one end", t.random({6}), below, below_of), integers},
         .empty = {one("nothing", zeros({0}, f64), inside, inside_of)},
         .errors = {{"above the upper end", [] { clamp(ones({2}), 1, 0); }},
                    {"undefined", [] { clamp(Tensor(), 0, 1); }}}});
  const auto identity = [](double v) { return v; };
  OpSample truncated = one(
      "to integers", tensor({-1.7, 0.2, 1.9, 3}, f64), [](const Tensor& x) { return cast(x, i64); },
      [](double v) { return std::trunc(v); });
  OpSample truth = one(
      "to bool", tensor({-1.7, 0, 0.2}, f64), [](const Tensor& x) { return cast(x, boolean); },
      [](double v) { return v != 0 ? 1. : 0.; });
  truncated.differentiable = truth.differentiable = false;
  t.add({.name = "cast",
         .samples = {one(
                         "to f32 and back", t.random({3, 4}),
                         [](const Tensor& x) { return cast(cast(x, f32), x.dtype()); }, identity),
                     truncated, truth},
         .empty = {one(
             "nothing", zeros({2, 0}, f64), [](const Tensor& x) { return cast(cast(x, f32), f64); },
             identity)},
         .errors = {{"undefined", [] { cast(Tensor(), f32); }}},
         .gradcheck = {.step = 0.25, .rtol = 1e-6, .atol = 1e-6}});  // f32 rounds smaller steps
}

void add_pointwise_rows(OpTable& t) {
  add_arithmetic(t);
  add_pow(t);
  add_extremes(t);
  add_clamp_and_cast(t);
}

const Family family(add_pointwise_rows);

}  // namespace
}  // namespace ladon::test
