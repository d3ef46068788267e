// Rows of reductions (autograd/ops/reduce.h).

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

using Numbers = std::vector<double>;
using Of = std::function<double(const Numbers&)>;
using Reduce = std::function<Tensor(const Tensor&, const Axes&, Dims)>;

/// `over`: the axes in words of the reference, where -1 is not allowed.
OpSample sample(const std::string& note, const Tensor& x, const Reduce& f, const Axes& axes,
                std::vector<int> over, Dims dims, const Of& reference) {
  return {.note = note,
          .inputs = {x},
          .apply = [=](const auto& in) { return f(in[0], axes, dims); },
          .reference = reduction(std::move(over), dims == Dims::keep, reference)};
}

OpSample value_only(OpSample s) {
  s.differentiable = false;
  return s;
}

OpRow reduction_row(OpTable& t, const std::string& name, const Reduce& f, const Of& reference) {
  const auto bad = [f](const Axes& axes) { return [=] { f(ones({2, 3}), axes, Dims::drop); }; };
  return {
      .name = name,
      .samples = {sample("all", t.random({3, 4}), f, {}, {0, 1}, Dims::drop, reference),
                  sample("last", t.random({3, 4}), f, -1, {1}, Dims::drop, reference),
                  sample("first, kept", t.random({3, 4}), f, 0, {0}, keep_dims, reference),
                  sample("middle", t.random({2, 3, 4}), f, 1, {1}, Dims::drop, reference),
                  sample("outer two", t.random({3, 2, 3}), f, {2, 0}, {0, 2}, Dims::drop,
                         reference),
                  sample("all, kept", t.random({2, 3}), f, {}, {0, 1}, keep_dims, reference),
                  sample("size one", t.random({3, 1}), f, 0, {0}, Dims::drop, reference)},
      .empty = {sample("over nothing", zeros({3, 0}, f64), f, 1, {1}, Dims::drop, reference),
                sample("no rows", zeros({0, 3}, f64), f, 1, {1}, Dims::drop, reference),
                sample("all of nothing", zeros({0, 2}, f64), f, {}, {0, 1}, keep_dims, reference)},
      .errors = {{"axis", bad(2)},
                 {"axis", bad({0, -3})},
                 {"twice", bad({1, -1})},
                 {"undefined", [f] { f(Tensor(), {}, Dims::drop); }}}};
}

double total(const Numbers& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double average(const Numbers& v) { return total(v) / static_cast<double>(v.size()); }
double product(const Numbers& v) {
  return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>());
}
double squares_about(const Numbers& v, double center) {
  double s = 0;
  for (const double e : v) s += (e - center) * (e - center);
  return s;
}
double variance(const Numbers& v, double correction) {
  return squares_about(v, average(v)) / std::max(static_cast<double>(v.size()) - correction, 0.0);
}
double largest(const Numbers& v) {
  double m = -inf;
  for (const double e : v) m = e != e || m != m ? NAN : std::max(m, e);
  return m;
}
double smallest(const Numbers& v) {
  Numbers negated;
  for (const double e : v) negated.push_back(-e);
  return -largest(negated);
}
double log_sum_exp(const Numbers& v) {
  const double m = largest(v);
  if (m == -inf) return -inf;
  double s = 0;
  for (const double e : v) s += std::exp(e - m);
  return m + std::log(s);
}

/// By which axes a sample of size one varies not at all: a deviation of one element is NaN or 0.
OpRow without_single(OpRow row) {
  std::erase_if(row.samples, [](const OpSample& s) { return s.note == "size one"; });
  return row;
}

void add_sums(OpTable& t) {
  OpRow row = reduction_row(t, "sum", sum, total);
  row.samples.push_back(
      value_only(sample("booleans", t.random_booleans({4, 5}), sum, 1, {1}, Dims::drop, total)));
  row.samples.push_back(
      value_only(sample("long", t.random({70000}, 0, 1), sum, {}, {0}, Dims::drop, total)));
  t.add(row);

  row = reduction_row(t, "mean", mean, average);
  row.errors.push_back({"floating", [] { mean(ones({2}, i64)); }});
  t.add(row);

  const auto population = [](const Tensor& x, const Axes& axes, Dims dims) {
    return var(x, axes, dims, 0);
  };
  const Reduce unbiased = [](const Tensor& x, const Axes& a, Dims d) { return var(x, a, d); };
  row = without_single(
      reduction_row(t, "var", unbiased, [](const Numbers& v) { return variance(v, 1); }));
  row.samples.push_back(sample("population", t.random({3, 4}), population, 1, {1}, Dims::drop,
                               [](const Numbers& v) { return variance(v, 0); }));
  row.samples.push_back(
      value_only(sample("far from zero", t.random({5}) + 1e3, unbiased, {}, {0}, Dims::drop,
                        [](const Numbers& v) { return variance(v, 1); })));
  row.samples.push_back(value_only(sample("of one", t.random({2, 1}), unbiased, 1, {1}, Dims::drop,
                                          [](const Numbers&) { return NAN; })));
  t.add(row);

  const Reduce deviation = [](const Tensor& x, const Axes& a, Dims d) { return stddev(x, a, d); };
  t.add(without_single(reduction_row(t, "stddev", deviation,
                                     [](const Numbers& v) { return std::sqrt(variance(v, 1)); })));

  row = reduction_row(t, "norm", norm,
                      [](const Numbers& v) { return std::sqrt(squares_about(v, 0)); });
  t.add(row);
}

void add_products(OpTable& t) {
  OpRow row = reduction_row(t, "prod", prod, product);
  const auto with_zeros = [&](const std::string& note, std::initializer_list<double> values) {
    return sample(note, tensor(values, {2, 3}, f64), prod, 1, {1}, Dims::drop, product);
  };
  row.samples.push_back(with_zeros("one zero", {1.5, 0, -2, 3, 1, 0.5}));
  row.samples.push_back(with_zeros("two zeros", {1.5, 0, 0, 0, 1, 0}));
  row.samples.push_back(sample("two axes, one zero",
                               tensor({1.5, 0, -2, 3, 1, 0.5}, {1, 2, 3}, f64), prod, {1, 2},
                               {1, 2}, Dims::drop, product));
  const Tensor of_eight =
      tensor({1.5, 0, -2, 3, 1, 0.5, 2, 0, 0, -1, 2, 0.5}, {2, 1, 3, 1, 1, 2, 1, 1}, f64);
  row.samples.push_back(
      sample("rank 8, zeros", of_eight, prod, {2, 5}, {2, 5}, Dims::drop, product));
  row.samples.push_back(sample("rank 8, one axis", of_eight, prod, 2, {2}, keep_dims, product));
  row.samples.push_back(
      value_only(sample("integers", tensor({2, -3, 4}, i64), prod, {}, {0}, Dims::drop, product)));
  t.add(row);
}

void add_extremes(OpTable& t) {
  const auto add = [&](const std::string& name, const Reduce& f, const Of& reference) {
    OpRow row = reduction_row(t, name, f, reference);
    row.samples.push_back(value_only(sample("ties", tensor({2, 5, 5, -1, -1, 2}, {2, 3}, f64), f, 1,
                                            {1}, Dims::drop, reference)));
    row.samples.push_back(
        value_only(sample("special", tensor({NAN, 1, 2, -inf, inf, 0}, {2, 3}, f64), f, 1, {1},
                          Dims::drop, reference)));
    row.errors.push_back(
        {"needs at least one element", [f] { f(zeros({0}, i64), {}, Dims::drop); }});
    t.add(row);
  };
  add("amax", amax, largest);
  add("amin", amin, smallest);

  OpRow row = reduction_row(t, "logsumexp", logsumexp, log_sum_exp);
  row.samples.push_back(value_only(
      sample("special", tensor({1000, 1001, 999, -inf, -inf, -inf, -inf, 3, -2000}, {3, 3}, f64),
             logsumexp, 1, {1}, Dims::drop, log_sum_exp)));
  row.errors.push_back({"floating", [] { logsumexp(ones({2}, i64)); }});
  t.add(row);
}

void add_truth(OpTable& t) {
  const auto add = [&](const char* name, Tensor (*f)(const Tensor&, const Axes&, Dims),
                       double at_nothing, double p) {
    const Of reference = [at_nothing](const Numbers& v) {
      for (const double e : v)
        if (e != at_nothing) return 1 - at_nothing;
      return at_nothing;
    };
    const auto draw = [&] { return t.random_booleans({4, 3, 2}, p); };
    t.add({.name = name,
           .samples = {value_only(sample("all", draw(), f, {}, {0, 1, 2}, Dims::drop, reference)),
                       value_only(sample("last", draw(), f, -1, {2}, Dims::drop, reference)),
                       value_only(
                           sample("two, kept", draw(), f, {0, 2}, {0, 2}, keep_dims, reference))},
           .empty = {value_only(
               sample("over nothing", zeros({2, 0}, boolean), f, 1, {1}, Dims::drop, reference))},
           .errors = {{"bool", [f] { f(ones({2}), {}, Dims::drop); }},
                      {"axis", [f] { f(ones({2}, boolean), 1, Dims::drop); }}}});
  };
  add("any", any, 0, 0.2);
  add("all", all, 1, 0.8);
}

void add_sum_to(OpTable& t) {
  const auto to = [&](const std::string& note, const Tensor& x, const Shape& shape,
                      std::vector<int> axes, bool keep) {
    return OpSample{.note = note,
                    .inputs = {x},
                    .apply = [shape](const auto& in) { return sum_to(in[0], shape); },
                    .reference =
                        [=](const auto& in) {
                          Dense y = reduction(axes, keep, total)(in);
                          y.shape = shape;
                          return y;
                        }};
  };
  t.add({.name = "sum_to",
         .samples = {to("leading", t.random({2, 3, 4}), {3, 4}, {0}, false),
                     to("inner", t.random({2, 3, 4}), {2, 1, 4}, {1}, true),
                     to("both", t.random({2, 3, 4}), {3, 1}, {0, 2}, false),
                     to("scalar", t.random({2, 3}), {}, {0, 1}, false),
                     to("itself", t.random({2, 3}), {2, 3}, {}, true)},
         .empty = {to("of nothing", zeros({0, 3}, f64), {3}, {0}, false)},
         .errors = {{"does not broadcast",
                     [] {
                       sum_to(ones({1, 3}), {2, 3});
                     }},
                    {"[2]", [] { sum_to(ones({3}), {2}); }}}});
}

void add_reduce_rows(OpTable& t) {
  add_sums(t);
  add_products(t);
  add_extremes(t);
  add_truth(t);
  add_sum_to(t);
}

const Family family(add_reduce_rows);

}  // namespace
}  // namespace ladon::test
