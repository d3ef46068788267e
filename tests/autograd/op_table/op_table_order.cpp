// Rows of the operations along one axis: extrema with their indices, sorting, running sums
// (autograd/ops/reduce.h).

#include <algorithm>
#include <functional>
#include <numeric>

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

using Numbers = std::vector<double>;

/// Maps every line along an axis: f gets its elements and gives the elements of the result's line.
Reference along(int axis, std::function<Numbers(const Numbers&)> f, bool drop = false) {
  return [=](const std::vector<Dense>& inputs) {
    const Dense& x = inputs[0];
    Shape lines = x.shape;
    lines[axis] = 1;
    Dense y;
    for_each_index(lines, [&](const Shape& line) {
      Numbers elements;
      Shape at = line;
      for (at[axis] = 0; at[axis] < x.shape[axis]; ++at[axis]) elements.push_back(x(at));
      const Numbers mapped = f(elements);
      if (y.shape.rank() == 0) {
        Shape shape = x.shape;
        shape[axis] = static_cast<std::int64_t>(mapped.size());
        y = Dense(shape);
      }
      for (at[axis] = 0; at[axis] < y.shape[axis]; ++at[axis])
        y(at) = mapped[static_cast<std::size_t>(at[axis])];
    });
    if (drop) y.shape.erase(axis);
    return y;
  };
}

/// The order that sorts a line, stable.
std::vector<std::size_t> order_of(const Numbers& v, bool descending) {
  std::vector<std::size_t> order(v.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return descending ? v[a] > v[b] : v[a] < v[b];
  });
  return order;
}
Numbers first_values(const Numbers& v, bool descending, std::size_t k) {
  Numbers values;
  for (std::size_t i = 0; i < k; ++i) values.push_back(v[order_of(v, descending)[i]]);
  return values;
}
Numbers first_places(const Numbers& v, bool descending, std::size_t k) {
  Numbers places;
  for (std::size_t i = 0; i < k; ++i)
    places.push_back(static_cast<double>(order_of(v, descending)[i]));
  return places;
}

OpSample ordered(const std::string& note, const Tensor& x, TensorFunction apply,
                 Reference reference, bool differentiable) {
  return {.note = note,
          .inputs = {x},
          .apply = std::move(apply),
          .reference = std::move(reference),
          .differentiable = differentiable};
}

void add_positions(OpTable& t) {
  const auto values = [](bool up) {
    return [up](const Numbers& v) { return first_values(v, up, 1); };
  };
  const auto places = [](bool up) {
    return [up](const Numbers& v) { return first_places(v, up, 1); };
  };
  const Tensor ties = tensor({3, 1, 3, 1, 1, 1}, {2, 3}, f64);

  const auto add = [&](const std::string& name, auto f, auto position, bool up) {
    t.add({.name = name,
           .samples = {ordered(
                           "last", t.random({3, 4}),
                           [f](const auto& x) { return f(x[0], -1, Dims::drop).values; },
                           along(1, values(up), true), true),
                       ordered(
                           "first, kept", t.random({3, 4}),
                           [f](const auto& x) { return f(x[0], 0, keep_dims).values; },
                           along(0, values(up)), true),
                       ordered(
                           "indices", t.random({2, 5}),
                           [f](const auto& x) { return f(x[0], 1, Dims::drop).indices; },
                           along(1, places(up), true), false),
                       ordered(
                           "indices of ties", ties,
                           [f](const auto& x) { return f(x[0], 1, keep_dims).indices; },
                           along(1, places(up)), false)},
           .empty = {ordered(
               "no rows", zeros({0, 2}, f64),
               [f](const auto& x) { return f(x[0], 1, keep_dims).values; },
               [](const auto&) {
                 return Dense(Shape{0, 1});
               },
               true)},
           .errors = {{"empty",
                       [f] {
                         f(zeros({2, 0}), 1, Dims::drop);
                       }},
                      {"axis", [f] { f(ones({2}), 1, Dims::drop); }}}});
    t.add({.name = "arg" + name,
           .samples = {ordered(
                           "last", t.random({3, 4}),
                           [position](const auto& x) { return position(x[0], -1, Dims::drop); },
                           along(1, places(up), true), false),
                       ordered(
                           "ties, kept", ties,
                           [position](const auto& x) { return position(x[0], 1, keep_dims); },
                           along(1, places(up)), false),
                       ordered(
                           "integers", t.random_integers({4, 5}, 0, 3),
                           [position](const auto& x) { return position(x[0], 0, Dims::drop); },
                           along(0, places(up), true), false)},
           .errors = {{"empty",
                       [position] {
                         position(zeros({2, 0}), 1, Dims::drop);
                       }},
                      {"axis", [position] { position(ones({2}), -2, Dims::drop); }}}});
  };
  add("max", ladon::max, argmax, true);
  add("min", ladon::min, argmin, false);
}

void add_sorting(OpTable& t) {
  const auto sorted = [](const std::string& note, const Tensor& x, SortOptions options, int axis,
                         bool indices) {
    const auto f = [descending = options.descending, indices](const Numbers& v) {
      return indices ? first_places(v, descending, v.size())
                     : first_values(v, descending, v.size());
    };
    const auto apply = [=](const auto& in) {
      const ValuesAndIndices r = sort(in[0], options);
      return indices ? r.indices : r.values;
    };
    return ordered(note, x, apply, along(axis, f), !indices);
  };
  const Tensor ties = tensor({2, 1, 2, 1, 1, 3}, {6}, f64);
  t.add({.name = "sort",
         .samples = {sorted("last", t.random({3, 5}), {}, 1, false),
                     sorted("first, descending", t.random({4, 2}), {.axis = 0, .descending = true},
                            0, false),
                     sorted("indices", t.random({3, 5}), {}, 1, true),
                     sorted("stable", ties, {}, 0, true),
                     sorted("stable, descending", ties, {.descending = true}, 0, true)},
         .errors = {{"axis", [] { sort(ones({2}), {.axis = 1}); }},
                    {"undefined", [] { sort(Tensor()); }}}});

  const auto top = [](const std::string& note, const Tensor& x, std::int64_t k, TopkOptions options,
                      int axis, bool indices) {
    const auto n = static_cast<std::size_t>(k);
    const auto f = [n, largest_first = options.largest, indices](const Numbers& v) {
      return indices ? first_places(v, largest_first, n) : first_values(v, largest_first, n);
    };
    const auto apply = [=](const auto& in) {
      const ValuesAndIndices r = topk(in[0], k, options);
      return indices ? r.indices : r.values;
    };
    return ordered(note, x, apply, along(axis, f), !indices);
  };
  t.add({.name = "topk",
         .samples = {top("last", t.random({3, 5}), 2, {}, 1, false),
                     top("smallest of the first", t.random({4, 3}), 3,
                         {.axis = 0, .largest = false}, 0, false),
                     top("all", t.random({4}), 4, {}, 0, false),
                     top("indices", t.random({3, 5}), 2, {}, 1, true)},
         .errors = {{"k = 3", [] { topk(ones({2}), 3); }},
                    {"k = -1", [] { topk(ones({2}), -1); }},
                    {"axis", [] { topk(ones({2}), 1, {.axis = 5}); }}}});
}

void add_scan(OpTable& t) {
  const auto running = [](const Numbers& v) {
    Numbers sums(v.size());
    std::partial_sum(v.begin(), v.end(), sums.begin());
    return sums;
  };
  const auto scan = [&](const std::string& note, const Tensor& x, int axis) {
    return ordered(
        note, x, [axis](const auto& in) { return cumsum(in[0], axis); }, along(axis, running),
        is_floating(x.dtype()));
  };
  t.add({.name = "cumsum",
         .samples = {scan("first", t.random({3, 4}), 0), scan("last", t.random({2, 3, 4}), 2),
                     scan("middle", t.random({2, 3, 4}), 1),
                     scan("integers", t.random_integers({6}, -5, 5), 0)},
         .empty = {ordered(
             "nothing", zeros({2, 0}, f64), [](const auto& in) { return cumsum(in[0], 1); },
             [](const auto&) {
               return Dense(Shape{2, 0});
             },
             true)},
         .errors = {{"axis", [] { cumsum(ones({2}), 1); }},
                    {"undefined", [] { cumsum(Tensor(), 0); }}}});
}

void add_products(OpTable& t) {
  const auto running = [](const Numbers& v) {
    Numbers products(v.size());
    std::partial_sum(v.begin(), v.end(), products.begin(), std::multiplies<>());
    return products;
  };
  const auto scan = [&](const std::string& note, const Tensor& x, int axis) {
    return ordered(
        note, x, [axis](const auto& in) { return cumprod(in[0], axis); }, along(axis, running),
        is_floating(x.dtype()));
  };
  const Tensor one_zero = tensor({2, 0, -1.5, 3}, {4}, f64);
  const Tensor zeros_everywhere = tensor({0, 2, 0, 1, 0, 0}, {2, 3}, f64);
  t.add({.name = "cumprod",
         .samples = {scan("first", t.random({3, 4}), 0), scan("last", t.random({2, 3, 4}), 2),
                     scan("a zero", one_zero, 0), scan("zeros", zeros_everywhere, 1),
                     scan("integers", t.random_integers({6}, -5, 5), 0)},
         .empty = {ordered(
             "nothing", zeros({2, 0}, f64), [](const auto& in) { return cumprod(in[0], 1); },
             [](const auto&) {
               return Dense(Shape{2, 0});
             },
             true)},
         .errors = {{"axis", [] { cumprod(ones({2}), 1); }},
                    {"undefined", [] { cumprod(Tensor(), 0); }}}});

  const auto recur = [](const std::string& note, const Tensor& a, const Tensor& b) {
    return OpSample{.note = note,
                    .inputs = {a, b},
                    .apply = [](const auto& in) { return linear_recurrence(in[0], in[1], 1); },
                    .reference =
                        [](const std::vector<Dense>& in) {
                          Dense h(in[0].shape);
                          for_each_index(h.shape, [&](const Shape& i) {
                            Shape before = i;
                            before[1] -= 1;
                            h(i) = in[1](i) + (i[1] > 0 ? in[0](i) * h(before) : 0);
                          });
                          return h;
                        }};
  };
  t.add({.name = "linear_recurrence",
         .samples = {recur("random", t.random({2, 4, 2}), t.random({2, 4, 2})),
                     recur("zeros", tensor({1, 0, 2, 0, 0, 1}, {2, 3}, f64), t.random({2, 3}))},
         .empty = {recur("nothing", zeros({2, 0}, f64), zeros({2, 0}, f64))},
         .errors = {{"shapes differ", [] { linear_recurrence(ones({2}), ones({3}), 0); }},
                    {"axis", [] { linear_recurrence(ones({2}), ones({2}), 1); }}}});
}

void add_order_rows(OpTable& t) {
  add_positions(t);
  add_sorting(t);
  add_scan(t);
  add_products(t);
}

const Family family(add_order_rows);

}  // namespace
}  // namespace ladon::test
