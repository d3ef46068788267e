// Operations over axes (autograd/ops/reduce.h, softmax.h).

#include "entries.h"
#include "ladon/autograd/ops.h"

namespace ladon::bench::every {
namespace {

using X = Tensors;

/// Near 1, so that products of many stay in range.
Tensors ones_about(Draw& d) { return {d.between(0.95, 1.05, d.matrix())}; }
/// [.., n, m] whose axis in the middle is reduced.
Tensors cube(Draw& d) { return {d.normal({d.of(4, 16, 64), d.of(4, 64, 256), d.of(4, 64, 256)})}; }
Tensors permuted(Draw& d) {
  const X x = cube(d);
  return {permute(x[0], {2, 0, 1})};
}
/// Smaller, for what costs more than a pass.
Tensors to_sort(Draw& d) { return {d.normal({d.of(8, 64, 256), d.of(8, 256, 4096)})}; }
Tensors vocabulary(Draw& d) { return {d.normal({d.of(1, 4, 64), d.of(64, 4096, 50257)})}; }

Results both(const ValuesAndIndices& r) { return Tensors{r.values, r.indices}; }

void add_sums(Table& t) {
  t.add("sum", matrix, [](const X& x) { return sum(x[0]); });
  t.add("sum, last axis", matrix, [](const X& x) { return sum(x[0], -1); });
  t.add("sum, first axis", matrix, [](const X& x) { return sum(x[0], 0); });
  t.add("sum, permuted", permuted, [](const X& x) { return sum(x[0], 0); });
  t.add("mean", matrix, [](const X& x) { return mean(x[0], -1); });
  t.add("mean, axis 1 of 3", cube, [](const X& x) { return mean(x[0], 1); });
  t.add("prod", ones_about, [](const X& x) { return prod(x[0], -1); });
  t.add("var", matrix, [](const X& x) { return var(x[0], -1); });
  t.add("var, first axis", matrix, [](const X& x) { return var(x[0], 0); });
  t.add("stddev", matrix, [](const X& x) { return stddev(x[0], -1); });
  t.add("norm", matrix, [](const X& x) { return norm(x[0], -1); });
  t.add("logsumexp", matrix, [](const X& x) { return logsumexp(x[0], -1); });
  t.add("logsumexp, first axis", matrix, [](const X& x) { return logsumexp(x[0], 0); });
  t.add("softmax", matrix, [](const X& x) { return softmax(x[0]); });
  t.add("softmax, axis 1 of 3", cube, [](const X& x) { return softmax(x[0], 1); });
  t.add("log_softmax", matrix, [](const X& x) { return log_softmax(x[0]); });
  t.add("log_softmax, axis 1 of 3", cube, [](const X& x) { return log_softmax(x[0], 1); });
  const auto row_sum = [](const X& x) { return sum_to(x[0], {x[0].size(1)}); };
  t.add("sum_to", matrix, row_sum);
}

void add_extremes(Table& t) {
  const Traits forward{.gradient = false}, of_booleans{.gradient = false, .f64_too = false};
  t.add("amax", matrix, [](const X& x) { return amax(x[0], -1); });
  t.add("amin", matrix, [](const X& x) { return amin(x[0], 0); });
  t.add("max", matrix, [](const X& x) { return both(max(x[0], -1)); });
  t.add("min", matrix, [](const X& x) { return both(min(x[0], 0)); });
  t.add(
      "argmax", matrix, [](const X& x) { return argmax(x[0]); }, forward);
  t.add(
      "argmax, of a vocabulary", vocabulary, [](const X& x) { return argmax(x[0]); }, forward);
  t.add(
      "argmin", matrix, [](const X& x) { return argmin(x[0], 0); }, forward);
  const auto booleans = [](Draw& d) -> X { return {d.booleans(d.matrix(), 0.001)}; };
  t.add(
      "any", booleans, [](const X& x) { return any(x[0], -1); }, of_booleans);
  t.add(
      "all", booleans, [](const X& x) { return all(logical_not(x[0]), 0); }, of_booleans);
}

void add_orders(Table& t) {
  t.add("topk", vocabulary, [](const X& x) { return both(topk(x[0], 50)); });
  t.add("topk, 8 of rows", to_sort, [](const X& x) { return both(topk(x[0], 8)); });
  t.add("sort", to_sort, [](const X& x) { return both(sort(x[0])); });
  t.add("sort, first axis", to_sort, [](const X& x) { return both(sort(x[0], {.axis = 0})); });
  const auto integers = [](Draw& d) -> X { return {d.below(1000, to_sort(d)[0].shape())}; };
  t.add("sort, integers", integers, [](const X& x) { return both(sort(x[0])); },
        {.gradient = false, .f64_too = false});
}

void add_scans(Table& t) {
  t.add("cumsum", matrix, [](const X& x) { return cumsum(x[0], -1); });
  t.add("cumsum, first axis", matrix, [](const X& x) { return cumsum(x[0], 0); });
  t.add("cumprod", ones_about, [](const X& x) { return cumprod(x[0], -1); });
  const auto decays = [](Draw& d) -> X {
    const Shape shape{d.of(2, 8, 16), d.of(8, 64, 512), d.of(4, 128, 256)};
    return {d.between(0.5, 1, shape), d.normal(shape)};
  };
  t.add("linear_recurrence", decays, [](const X& x) { return linear_recurrence(x[0], x[1], 1); });
}

}  // namespace

void add_reductions(Table& t) {
  t.family("reductions");
  add_sums(t);
  add_extremes(t);
  add_orders(t);
  add_scans(t);
}

}  // namespace ladon::bench::every
