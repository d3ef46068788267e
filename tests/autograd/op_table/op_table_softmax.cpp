// Rows of softmax, log_softmax and dropout (autograd/ops/softmax.h), and of the in-place edits
// (autograd/ops/inplace.h), which are applied to a copy of their first operand.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// exp(x)/Σ exp(x) along an axis, or its logarithm, line by line; of −∞ throughout 0 (−∞).
Reference softmax_along(int axis, bool logarithm) {
  return [=](const std::vector<Dense>& inputs) {
    const Dense& x = inputs[0];
    Dense y(x.shape);
    for_each_index(x.shape, [&](const Shape& index) {
      Shape at = index;
      double top = -inf, sum = 0;
      for (at[axis] = 0; at[axis] < x.shape[axis]; ++at[axis]) top = std::max(top, x(at));
      for (at[axis] = 0; at[axis] < x.shape[axis]; ++at[axis]) sum += std::exp(x(at) - top);
      const double log_y = top == -inf ? -inf : x(index) - top - std::log(sum);
      y(index) = logarithm ? log_y : std::exp(log_y);
    });
    return y;
  };
}

void add_softmax(OpTable& t, const char* name, Tensor (*f)(const Tensor&, int), bool logarithm) {
  const auto sample = [&](const std::string& note, const Tensor& x, int axis) {
    return OpSample{.note = note,
                    .inputs = {x},
                    .apply = [f, axis](const auto& in) { return f(in[0], axis); },
                    .reference = softmax_along(axis, logarithm)};
  };
  OpSample masked = sample("masked", tensor({1, -inf, 2, -inf, -inf, -inf}, {2, 3}, f64), 1);
  OpSample large = sample("large", tensor({1e4, 1e4 + 1, 9e3, -1e30, 0, 1e30}, {2, 3}, f64), 1);
  masked.differentiable = large.differentiable = false;
  t.add({.name = name,
         .samples = {sample("last", t.random({3, 5}), 1), sample("first", t.random({4, 3}), 0),
                     sample("middle", t.random({2, 3, 4}), 1),
                     sample("single", t.random({3, 1}), 1), masked, large},
         .empty = {sample("no rows", zeros({0, 3}, f64), 1),
                   sample("no columns", zeros({2, 0}, f64), 1)},
         .errors = {{"floating", [f] { f(ones({2}, i64), 0); }},
                    {"axis", [f] { f(ones({2}), 1); }},
                    {"undefined", [f] { f(Tensor(), 0); }}}});
}

void add_dropout(OpTable& t) {
  const auto sample = [&](const std::string& note, const Shape& shape, double p) {
    return OpSample{.note = note,
                    .inputs = {t.random(shape)},
                    .apply =
                        [p](const auto& in) {
                          Generator rng(5);  // the same draw at each call
                          return dropout(in[0], p, rng);
                        },
                    .reference =
                        [p](const auto& in) {
                          Generator rng(5);
                          const Dense dropped(bernoulli(in[0].shape, rng, p));
                          Dense y = in[0];
                          for (std::size_t i = 0; i < y.values.size(); ++i)
                            y.values[i] = dropped.values[i] != 0 ? 0 : y.values[i] / (1 - p);
                          return y;
                        }};
  };
  t.add({.name = "dropout",
         .draws = true,
         .samples = {sample("half", {4, 5}, 0.5), sample("few", {30}, 0.1), sample("all", {6}, 1),
                     sample("none", {6}, 0)},
         .empty = {sample("nothing", {0, 3}, 0.5)},
         .errors = {{"outside [0, 1]",
                     [] {
                       Generator rng(1);
                       dropout(ones({2}), 1.5, rng);
                     }},
                    {"floating", [] {
                       Generator rng(1);
                       dropout(ones({2}, i64), 0.5, rng);
                     }}}});
}

// --- in-place edits ---

using Edit = std::function<void(const Tensor& x, const Tensor& y)>;

OpSample edited(const std::string& note, const Tensor& x, const Tensor& y, const Edit& edit,
                std::function<double(double, double)> reference) {
  return {.note = note,
          .inputs = {x, y},
          .apply =
              [edit](const auto& in) {
                const NoGrad no_grad;
                const Tensor copy = clone(in[0]);
                edit(copy, in[1]);
                return copy;
              },
          .reference = pointwise([reference](const auto& v) { return reference(v[0], v[1]); }),
          .differentiable = false};
}

void add_edit(OpTable& t, const char* name, const Edit& edit,
              std::function<double(double, double)> reference, bool has_source,
              const std::vector<OpSample>& more = {}) {
  const auto recorded = [edit] {
    Tensor x = ones({2});
    edit(x.set_requires_grad(), ones({2}));
  };
  std::vector<OpSample> samples = {
      edited("equal shapes", t.random({3, 4}), t.random({3, 4}), edit, reference),
      edited("row", t.random({3, 4}), t.random({4}), edit, reference),
      edited("scalar", t.random({2, 3}), t.random({}), edit, reference),
      edited("integers", t.random_integers({5}, -9, 9), t.random_integers({5}, -9, 9), edit,
             reference)};
  samples.insert(samples.end(), more.begin(), more.end());
  t.add({.name = name,
         .maps = !has_source,  // of each example's values one stays
         .samples = std::move(samples),
         .empty = {edited("nothing", zeros({0, 2}), ones({2}), edit, reference)},
         .errors = {{"records history", recorded},
                    {"undefined", [edit] { edit(Tensor(), ones({2})); }}}});
}

void add_edits(OpTable& t) {
  const Edit copy = [](const Tensor& x, const Tensor& y) { copy_(x, y); };
  const Edit plus = [](const Tensor& x, const Tensor& y) { add_(x, y, 3); };
  const Edit times = [](const Tensor& x, const Tensor& y) { mul_(x, y); };
  add_edit(
      t, "copy_", copy, [](double, double b) { return b; }, true);
  add_edit(
      t, "add_", plus, [](double a, double b) { return a + 3 * b; }, true);
  add_edit(
      t, "fill_", [](const Tensor& x, const Tensor&) { fill_(x, -4); },
      [](double, double) { return -4; }, false);
  const Edit doubles = [](const Tensor& x, const Tensor&) { mul_(x, -2); };
  const auto doubled = [](double a, double) { return -2 * a; };
  add_edit(t, "mul_", times, [](double a, double b) { return a * b; }, true,
           {edited("by a number", t.random({3, 4}), t.random({3, 4}), doubles, doubled),
            edited("integers by a number", t.random_integers({5}, -9, 9),
                   t.random_integers({5}, -9, 9), doubles, doubled)});
}

void add_softmax_rows(OpTable& t) {
  add_softmax(t, "softmax", softmax, false);
  add_softmax(t, "log_softmax", log_softmax, true);
  add_dropout(t);
  add_edits(t);
}

const Family family(add_softmax_rows);

}  // namespace
}  // namespace ladon::test
