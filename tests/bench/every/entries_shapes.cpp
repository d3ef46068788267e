// Views, copies and indices (autograd/ops/shape.h, index.h). A view moves no numbers; entries whose
// names say so also copy the view, to measure a pass over the numbers.

#include "entries.h"
#include "ladon/autograd/ops.h"

namespace ladon::bench::every {
namespace {

using X = Tensors;

void add_views(Table& t) {
  t.add("reshape", matrix, [](const X& x) { return reshape(x[0], {x[0].size(1), x[0].size(0)}); });
  t.add("flatten", matrix, [](const X& x) { return flatten(x[0]); });
  t.add("permute", images, [](const X& x) { return permute(x[0], {0, 3, 1, 2}); });
  t.add("permute, copied", images, [](const X& x) {
    return contiguous(permute(x[0], {0, 3, 1, 2}));
  });
  t.add("transpose", matrix, [](const X& x) { return transpose(x[0]); });
  const auto row = [](Draw& d) -> X { return {d.normal({1, d.of(8, 256, 4096)})}; };
  t.add("expand", row, [](const X& x) { return expand(x[0], {64, x[0].size(1)}); });
  t.add("unsqueeze", matrix, [](const X& x) { return unsqueeze(x[0], 1); });
  t.add("squeeze", row, [](const X& x) { return squeeze(x[0], 0); });
  t.add("slice", matrix, [](const X& x) { return slice(x[0], 1, {1, -1, 2}); });
  t.add("select", matrix, [](const X& x) { return select(x[0], 0, 1); });
  t.add("at", matrix, [](const X& x) { return at(x[0], {Slice{.start = 1}, Slice{.stop = -1}}); });
  t.add("split", matrix, [](const X& x) { return split(x[0], x[0].size(1) / 4, 1); });
  t.add("diagonal", matrix, [](const X& x) { return diagonal(x[0]); });
}

void add_copies(Table& t) {
  t.add("contiguous", matrix, [](const X& x) { return contiguous(transpose(x[0])); });
  t.add("clone", line, [](const X& x) { return clone(x[0]); });
  t.add("concat", matrices, [](const X& x) { return concat(x, 0); });
  t.add("concat, last axis", matrices, [](const X& x) { return concat(x, -1); });
  const auto narrow = [](Draw& d) -> X {
    const std::int64_t n = d.of(8, 1024, 65536);
    return {d.normal({n, 16}), d.normal({n, 24}), d.normal({n, 8})};
  };
  t.add("concat, narrow parts", narrow, [](const X& x) { return concat(x, -1); });
  t.add("stack", matrices, [](const X& x) { return stack(x); });
  t.add("stack, last axis", matrices, [](const X& x) { return stack(x, -1); });
  t.add("flip", matrix, [](const X& x) { return flip(x[0], {0, 1}); });
  t.add("roll", matrix, [](const X& x) { return roll(x[0], 3, 1); });
  t.add("tile", matrix, [](const X& x) { return tile(x[0], {1, 2}); });
  t.add("pad", matrix, [](const X& x) { return pad(x[0], {1, 2}, {2, 1}); });
  t.add("tril", matrix, [](const X& x) { return tril(x[0]); });
  t.add("triu", matrix, [](const X& x) { return triu(x[0], 1); });
}

/// A table of rows and tokens that look them up.
Tensors looked_up(Draw& d) {
  const std::int64_t count = d.of(16, 1024, 32768), dim = d.of(8, 64, 256);
  return {d.normal({count, dim}), d.below(count, {d.of(8, 1024, 16384)})};
}
/// [n, m], an index of its shape along the last axis, and as many numbers.
Tensors scattered(Draw& d) {
  const Shape shape = d.matrix();
  return {d.normal(shape), d.below(shape[1], shape), d.normal(shape)};
}
/// The same with an index [n, 1] expanded along rows, as a table's lookups are written.
Tensors rows_scattered(Draw& d) {
  X x = scattered(d);
  x[1] = expand(d.below(x[0].size(0), {x[0].size(0), 1}), x[0].shape());
  return x;
}

void add_gathers(Table& t) {
  t.add("index_select", looked_up, [](const X& x) { return index_select(x[0], 0, x[1]); });
  t.add("index_select, last axis", scattered,
        [](const X& x) { return index_select(x[0], 1, select(x[1], 0, 0)); },
        {.differentiated = 1});
  t.add("embedding", looked_up, [](const X& x) { return embedding(x[0], x[1]); });
  t.add("gather", scattered, [](const X& x) { return gather(x[0], -1, x[1]); },
        {.differentiated = 1});
  t.add("gather, rows", rows_scattered, [](const X& x) { return gather(x[0], 0, x[1]); },
        {.differentiated = 1});
  t.add("scatter_add", scattered, [](const X& x) { return scatter_add(x[0], -1, x[1], x[2]); });
  t.add("scatter_add, rows", rows_scattered,
        [](const X& x) { return scatter_add(x[0], 0, x[1], x[2]); });
  // the last one written counts here, any one there: so each index comes once
  const auto permuted = [](Draw& d) -> X {
    X x = scattered(d);
    x[1] = sort(x[2]).indices;
    return x;
  };
  t.add("scatter", permuted, [](const X& x) { return scatter(x[0], -1, x[1], x[2]); });
  for (const auto& [name, by] :
       {std::pair("sum", Scattered::sum), std::pair("mean", Scattered::mean),
        std::pair("max", Scattered::max)}) {
    const Scattered rule = by;
    t.add(std::string("scatter_reduce, ") + name, scattered,
          [rule](const X& x) { return scatter_reduce(x[0], -1, x[1], x[2], rule); });
  }
}

void add_choices(Table& t) {
  const Traits of_integers{.gradient = false, .f64_too = false};
  const auto labels = [](Draw& d) -> X { return {d.below(64, {d.of(8, 1024, 65536)})}; };
  t.add(
      "one_hot", labels, [](const X& x) { return one_hot(x[0], 64); }, of_integers);
  const auto masked = [](Draw& d) -> X { return {d.normal(d.line()), d.booleans(d.line())}; };
  t.add("masked_select", masked, [](const X& x) { return masked_select(x[0], x[1]); });
  const auto sparse = [](Draw& d) -> X { return {d.booleans(d.matrix(), 0.1)}; };
  t.add(
      "nonzero", sparse, [](const X& x) { return nonzero(x[0]); }, of_integers);
  const auto different = [](const X& x) -> Results {
    const UniqueElements u = unique(x[0]);
    return Tensors{u.values, u.inverse, u.counts};
  };
  const auto few = [](Draw& d) -> X { return {d.below(100, {d.of(64, 16384, 1'048'576)})}; };
  t.add("unique", few, different, of_integers);
  const auto many = [](Draw& d) -> X { return {d.normal({d.of(64, 16384, 1'048'576)})}; };
  t.add("unique, of numbers", many, different, {.gradient = false});
}

}  // namespace

void add_shapes(Table& t) {
  t.family("shapes");
  add_views(t);
  add_copies(t);
}

void add_indices(Table& t) {
  t.family("indices");
  add_gathers(t);
  add_choices(t);
}

}  // namespace ladon::bench::every
