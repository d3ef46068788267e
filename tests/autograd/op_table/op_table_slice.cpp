// Rows of the operations in autograd/ops/shape.h that slice, split and concatenate.

#include <cmath>

#include "ladon/autograd/ops/shape.h"
#include "op_table.h"

namespace ladon::test {
namespace {

/// Parts of [2, n, 2] along axis 1, one after the other.
Dense joined(const std::vector<Dense>& parts) {
  std::int64_t n = 0;
  for (const Dense& part : parts) n += part.shape[1];
  Dense y(Shape{2, n, 2});
  std::int64_t start = 0;
  for (const Dense& part : parts) {
    for_each_index(part.shape, [&](const Shape& i) { y({i[0], i[1] + start, i[2]}) = part(i); });
    start += part.shape[1];
  }
  return y;
}

void add_cutting_rows(OpTable& table) {
  table.add(
      {.name = "slice",
       .samples = {{.note = "from the end",
                    .inputs = {table.random({2, 5})},
                    .apply = [](const auto& x) { return slice(x[0], 1, {.start = -3}); },
                    .reference = remap({2, 3},
                                       [](const Shape& i) {
                                         return Shape{i[0], i[1] + 2};
                                       })},
                   {.note = "every second",
                    .inputs = {table.random({6, 2})},
                    .apply =
                        [](const auto& x) {
                          return slice(x[0], 0, {.start = 1, .stop = 100, .step = 2});
                        },
                    .reference = remap({3, 2},
                                       [](const Shape& i) {
                                         return Shape{2 * i[0] + 1, i[1]};
                                       })},
                   {.note = "backwards",
                    .inputs = {table.random({6, 2})},
                    .apply =
                        [](const auto& x) {
                          return slice(x[0], -2, {.start = -2, .stop = -100, .step = -3});
                        },
                    .reference = remap({2, 2},
                                       [](const Shape& i) {
                                         return Shape{4 - 3 * i[0], i[1]};
                                       })}},
       .empty = {{.note = "an empty range",
                  .inputs = {table.random({4})},
                  .apply = [](const auto& x) { return slice(x[0], 0, {.start = 3, .stop = 1}); },
                  .reference = [](const auto&) { return Dense(Shape{0}); }}},
       .errors = {{"step along axis 0 is 0", [] { slice(ones({2}), 0, {.step = 0}); }},
                  {"out of range", [] { slice(ones({2}), 1, {}); }}}});
  table.add({.name = "select",
             .samples = {{.note = "the last row",
                          .inputs = {table.random({3, 2, 2})},
                          .apply = [](const auto& x) { return select(x[0], 1, -1); },
                          .reference = remap({3, 2},
                                             [](const Shape& i) {
                                               return Shape{i[0], 1, i[1]};
                                             })}},
             .errors = {{"index 3 is out of range", [] { select(ones({3}), 0, 3); }},
                        {"index -4 is out of range", [] { select(ones({3}), 0, -4); }}}});
  table.add({.name = "at",
             .samples = {{.note = "an index, a range, an index",
                          .inputs = {table.random({2, 4, 3})},
                          .apply =
                              [](const auto& x) {
                                return at(x[0], {1, Slice{.start = 1}, -1});
                              },
                          .reference = remap({3},
                                             [](const Shape& i) {
                                               return Shape{1, i[0] + 1, 2};
                                             })},
                         {.note = "a whole axis",
                          .inputs = {table.random({2, 3})},
                          .apply =
                              [](const auto& x) {
                                return at(x[0], {all_of, 0});
                              },
                          .reference = remap({2},
                                             [](const Shape& i) {
                                               return Shape{i[0], 0};
                                             })},
                         {.note = "ranges in braces",
                          .inputs = {table.random({4, 5})},
                          .apply =
                              [](const auto& x) {
                                return at(x[0], {{1, 3}, {-1, {}, -2}});
                              },
                          .reference = remap({2, 3},
                                             [](const Shape& i) {
                                               return Shape{i[0] + 1, 4 - 2 * i[1]};
                                             })},
                         {.note = "one range",
                          .inputs = {table.random({4, 2})},
                          .apply =
                              [](const auto& x) {
                                return at(x[0], {{1, 3}});
                              },
                          .reference = remap({2, 2},
                                             [](const Shape& i) {
                                               return Shape{i[0] + 1, i[1]};
                                             })},
                         {.note = "an ellipsis",
                          .inputs = {table.random({2, 3, 2, 4})},
                          .apply =
                              [](const auto& x) {
                                return at(x[0], {1, ellipsis, -1});
                              },
                          .reference = remap({3, 2},
                                             [](const Shape& i) {
                                               return Shape{1, i[0], i[1], 3};
                                             })},
                         {.note = "an ellipsis of no axis",
                          .inputs = {table.random({2, 3})},
                          .apply =
                              [](const auto& x) {
                                return at(x[0], {ellipsis, {0, 1}, 2});
                              },
                          .reference = remap({1},
                                             [](const Shape&) {
                                               return Shape{0, 2};
                                             })}},
             .errors = {
                 {"more than one ellipsis", [] { at(ones({2, 2}), {ellipsis, 0, ellipsis}); }},
                 {"index 5 is out of range for axis 2", [] { at(ones({2, 2, 2}), {ellipsis, 5}); }},
                 {"3 indices", [] { at(ones({2, 2}), {0, 0, 0}); }},
                 {"[at] index 5 is out of range for axis 1 of shape [2, 3]", [] {
                    at(ones({2, 3}), {1, 5});
                  }}}});
  const auto rolled = [&](const std::string& note, std::int64_t shift, int axis) {
    return OpSample{.note = note,
                    .inputs = {table.random({3, 5})},
                    .apply = [=](const auto& x) { return roll(x[0], shift, axis); },
                    .reference =
                        [=](const std::vector<Dense>& x) {
                          Dense y(x[0].shape);
                          for_each_index(y.shape, [&](const Shape& i) {
                            Shape to = i;
                            const std::int64_t n = y.shape[axis];
                            std::int64_t& place = to[axis < 0 ? axis + 2 : axis];
                            for (std::int64_t s = 0; s < std::abs(shift); ++s)
                              place = (place + (shift > 0 ? 1 : n - 1)) % n;
                            y(to) = x[0](i);
                          });
                          return y;
                        }};
  };
  table.add(
      {.name = "roll",
       .samples = {rolled("by one", 1, 1), rolled("backwards", -2, 0), rolled("around", 12, -1),
                   rolled("not at all", 0, 0), rolled("around backwards", -7, 0)},
       .empty = {{.note = "nothing",
                  .inputs = {zeros({0, 2}, f64)},
                  .apply = [](const auto& x) { return roll(x[0], 1, 0); },
                  .reference =
                      [](const auto&) {
                        return Dense(Shape{0, 2});
                      }}},
       .errors = {{"out of range", [] { roll(ones({2}), 1, 1); }},
                  {"undefined", [] { roll(Tensor(), 1, 0); }}}});
  table.add(
      {.name = "split",
       .samples = {{.note = "the second piece",
                    .inputs = {table.random({2, 5})},
                    .apply =
                        [](const auto& x) {
                          return split(x[0], std::vector<std::int64_t>{2, 3}, 1)[1];
                        },
                    .reference = remap({2, 3},
                                       [](const Shape& i) {
                                         return Shape{i[0], i[1] + 2};
                                       })},
                   {.note = "the short last piece",
                    .inputs = {table.random({5, 2})},
                    .apply = [](const auto& x) { return split(x[0], 2).at(2); },
                    .reference = remap({1, 2},
                                       [](const Shape& i) {
                                         return Shape{4, i[1]};
                                       })}},
       .errors = {{"sum to 3",
                   [] {
                     split(ones({4}), std::vector<std::int64_t>{1, 2});
                   }},
                  {"size -1",
                   [] {
                     split(ones({4}), std::vector<std::int64_t>{-1, 5});
                   }},
                  {"is more than 2^60",
                   [] {
                     const std::vector<std::int64_t> sizes(9, max_count);
                     split(expand(ones({1}), {max_count}), sizes);
                   }},
                  {"more than 1048576 tensors", [] { split(expand(ones({1}), {max_count}), 2); }},
                  {"at least 1", [] { split(ones({4}), 0); }}}});
  table.add({.name = "diagonal",
             .samples = {{.note = "above, the last two axes",
                          .inputs = {table.random({2, 3, 4})},
                          .apply = [](const auto& x) { return diagonal(x[0], 1); },
                          .reference = remap({2, 3},
                                             [](const Shape& i) {
                                               return Shape{i[0], i[1], i[1] + 1};
                                             })},
                         {.note = "below, outer axes",
                          .inputs = {table.random({3, 2, 3})},
                          .apply = [](const auto& x) { return diagonal(x[0], -1, 0, 2); },
                          .reference = remap({2, 2},
                                             [](const Shape& i) {
                                               return Shape{i[1] + 1, i[0], i[1]};
                                             })}},
             .empty = {{.note = "beyond the corner",
                        .inputs = {table.random({2, 3})},
                        .apply = [](const auto& x) { return diagonal(x[0], 5); },
                        .reference = [](const auto&) { return Dense(Shape{0}); }}},
             .errors = {{"both axes are 1", [] {
                           diagonal(ones({2, 2}), 0, 1, -1);
                         }}}});
}

void add_joining_rows(OpTable& table) {
  table.add({.name = "concat",
             .samples = {{.note = "three parts, one empty",
                          .inputs = {table.random({2, 3, 2}), table.random({2, 0, 2}),
                                     table.random({2, 1, 2})},
                          .apply = [](const auto& x) { return concat(x, 1); },
                          .reference = joined}},
             .empty = {{.note = "nothing and nothing",
                        .inputs = {table.random({2, 0, 2}), table.random({2, 0, 2})},
                        .apply = [](const auto& x) { return concat(x, -2); },
                        .reference = joined}},
             .errors = {{"[2, 3] and [3, 3]",
                         [] {
                           concat(std::vector<Tensor>{ones({2, 3}), ones({3, 3})}, 1);
                         }},
                        {"more than 2^60",
                         [] {
                           const Tensor x = expand(ones({1}), {std::int64_t{1} << 59});
                           concat(std::vector<Tensor>{x, x}, 0);
                         }},
                        {"needs at least one tensor", [] { concat(std::vector<Tensor>{}, 0); }}}});
  table.add({.name = "stack",
             .samples = {{.note = "a new last axis",
                          .inputs = {table.random({2, 3}), table.random({2, 3})},
                          .apply = [](const auto& x) { return stack(x, -1); },
                          .reference =
                              [](const std::vector<Dense>& x) {
                                Dense y(Shape{2, 3, 2});
                                for_each_index(y.shape, [&](const Shape& i) {
                                  y(i) = x[static_cast<std::size_t>(i[2])]({i[0], i[1]});
                                });
                                return y;
                              }}},
             .errors = {{"[2] and [3] differ",
                         [] {
                           stack(std::vector<Tensor>{ones({2}), ones({3})});
                         }},
                        {"needs at least one tensor", [] { stack(std::vector<Tensor>{}); }}}});
  table.add(
      {.name = "pad",
       .samples = {{.note = "around",
                    .inputs = {table.random({2, 3})},
                    .apply =
                        [](const auto& x) {
                          return pad(x[0], {1, 0}, {0, 2});
                        },
                    .reference = remap({3, 5},
                                       [](const Shape& i) -> std::optional<Shape> {
                                         if (i[0] < 1 || i[1] > 2) return std::nullopt;
                                         return Shape{i[0] - 1, i[1]};
                                       })},
                   {.note = "cropped before, padded after",
                    .inputs = {table.random({4})},
                    .apply = [](const auto& x) { return pad(x[0], {-3}, {2}); },
                    .reference = remap({3},
                                       [](const Shape& i) -> std::optional<Shape> {
                                         if (i[0] > 0) return std::nullopt;
                                         return Shape{3};
                                       })},
                   {.note = "a value",
                    .inputs = {table.random({1})},
                    .apply = [](const auto& x) { return pad(x[0], {1}, {0}, 7); },
                    .reference =
                        [](const std::vector<Dense>& x) {
                          Dense y(Shape{2});
                          y.values = {7, x[0].values[0]};
                          return y;
                        }}},
       .empty = {{.note = "around nothing",
                  .inputs = {table.random({0})},
                  .apply = [](const auto& x) { return pad(x[0], {1}, {1}); },
                  .reference = [](const auto&) { return Dense(Shape{2}); }}},
       .errors = {{"one count per axis, got 1 before",
                   [] {
                     pad(ones({2, 2}), {1}, {1});
                   }},
                  {"crop more elements than axis", [] { pad(ones({2}), {-3}, {5}); }},
                  {"give the negative size", [] { pad(ones({2}), {-2}, {-1}); }},
                  {"more than 2^60", [] { pad(ones({3}), {INT64_MAX}, {INT64_MAX}); }},
                  {"more than 2^60", [] { pad(ones({100000}), {INT64_MAX}, {INT64_MAX - 99998}); }},
                  {"crop more elements than axis", [] { pad(ones({2}), {INT64_MIN}, {0}); }}}});
  const auto triangle = [](bool upper, std::int64_t offset) {
    return remap({2, 3, 4}, [=](const Shape& i) -> std::optional<Shape> {
      const std::int64_t d = i[2] - i[1] - offset;
      if (upper ? d < 0 : d > 0) return std::nullopt;
      return i;
    });
  };
  table.add({.name = "tril",
             .samples = {{.note = "the diagonal and below",
                          .inputs = {table.random({2, 3, 4})},
                          .apply = [](const auto& x) { return tril(x[0]); },
                          .reference = triangle(false, 0)},
                         {.note = "one below",
                          .inputs = {table.random({2, 3, 4})},
                          .apply = [](const auto& x) { return tril(x[0], -1); },
                          .reference = triangle(false, -1)}},
             .empty = {{.note = "no rows",
                        .inputs = {table.random({0, 4})},
                        .apply = [](const auto& x) { return tril(x[0]); },
                        .reference = [](const auto& x) { return x[0]; }}},
             .errors = {{"at least 2 axes", [] { tril(ones({3})); }}}});
  table.add({.name = "triu",
             .samples = {{.note = "two above",
                          .inputs = {table.random({2, 3, 4})},
                          .apply = [](const auto& x) { return triu(x[0], 2); },
                          .reference = triangle(true, 2)},
                         {.note = "far below",
                          .inputs = {table.random({2, 3, 4})},
                          .apply = [](const auto& x) { return triu(x[0], -100); },
                          .reference = triangle(true, -100)}},
             .errors = {{"at least 2 axes", [] { triu(ones({3})); }}}});
}

void add_rows(OpTable& table) {
  add_cutting_rows(table);
  add_joining_rows(table);
}

const Family family(add_rows);

}  // namespace
}  // namespace ladon::test
