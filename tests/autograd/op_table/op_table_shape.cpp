// Rows of the operations in autograd/ops/shape.h that reshape and reorder.

#include "ladon/autograd/ops/shape.h"
#include "op_table.h"

namespace ladon::test {
namespace {

/// The same numbers under another shape.
Reference reshaped(const Shape& shape) {
  return [=](const std::vector<Dense>& x) {
    Dense y(shape);
    y.values = x[0].values;
    return y;
  };
}

void add_reshaping_rows(OpTable& table) {
  table.add({.name = "reshape",
             .samples = {{.note = "merged and cut",
                          .inputs = {table.random({2, 6})},
                          .apply =
                              [](const auto& x) {
                                return reshape(x[0], {3, 4});
                              },
                          .reference = reshaped({3, 4})},
                         {.note = "a size inferred",
                          .inputs = {table.random({4, 3, 2})},
                          .apply =
                              [](const auto& x) {
                                return reshape(x[0], {2, -1, 3});
                              },
                          .reference = reshaped({2, 4, 3})},
                         {.note = "to rank 0",
                          .inputs = {table.random({1, 1})},
                          .apply = [](const auto& x) { return reshape(x[0], {}); },
                          .reference = reshaped({})}},
             .empty = {{.note = "nothing",
                        .inputs = {table.random({2, 0, 3})},
                        .apply =
                            [](const auto& x) {
                              return reshape(x[0], {-1, 3});
                            },
                        .reference = reshaped({0, 3})}},
             .errors = {{"[2, 3] holds 6 elements",
                         [] {
                           reshape(ones({2, 3}), {4, 2});
                         }},
                        {"more than one size",
                         [] {
                           reshape(ones({4}), {-1, -1});
                         }},
                        {"cannot be inferred",
                         [] {
                           reshape(ones({0}), {0, -1});
                         }},
                        {"negative",
                         [] {
                           reshape(ones({4}), {-2, -2});
                         }},
                        {"2^60 elements", [] {
                           reshape(ones({4}), {1LL << 40, 1LL << 40});
                         }}}});
  table.add({.name = "flatten",
             .samples = {{.note = "all",
                          .inputs = {table.random({2, 3, 2})},
                          .apply = [](const auto& x) { return flatten(x[0]); },
                          .reference = reshaped({12})},
                         {.note = "the middle",
                          .inputs = {table.random({2, 3, 2, 2})},
                          .apply = [](const auto& x) { return flatten(x[0], 1, -2); },
                          .reference = reshaped({2, 6, 2})},
                         {.note = "a number",
                          .inputs = {table.random({})},
                          .apply = [](const auto& x) { return flatten(x[0]); },
                          .reference = reshaped({1})}},
             .errors = {{"comes after",
                         [] {
                           flatten(ones({2, 3}), 1, 0);
                         }},
                        {"out of range", [] {
                           flatten(ones({2, 3}), 0, 2);
                         }}}});
  table.add({.name = "unsqueeze",
             .samples = {{.note = "in the middle",
                          .inputs = {table.random({2, 3})},
                          .apply = [](const auto& x) { return unsqueeze(x[0], 1); },
                          .reference = reshaped({2, 1, 3})},
                         {.note = "last",
                          .inputs = {table.random({2, 3})},
                          .apply = [](const auto& x) { return unsqueeze(x[0], -1); },
                          .reference = reshaped({2, 3, 1})}},
             .errors = {{"out of range", [] { unsqueeze(ones({2}), 2); }}}});
  table.add({.name = "squeeze",
             .samples = {{.note = "in the middle",
                          .inputs = {table.random({2, 1, 3})},
                          .apply = [](const auto& x) { return squeeze(x[0], -2); },
                          .reference = reshaped({2, 3})}},
             .errors = {{"has size 2",
                         [] {
                           squeeze(ones({2, 1}), 0);
                         }},
                        {"out of range", [] { squeeze(ones({}), 0); }}}});
  table.add({.name = "contiguous",
             .samples = {{.note = "rows",
                          .inputs = {table.random({2, 3})},
                          .apply = [](const auto& x) { return contiguous(x[0]); },
                          .reference = reshaped({2, 3})}},
             .errors = {{"undefined", [] { contiguous(Tensor()); }}}});
  table.add({.name = "clone",
             .samples = {{.note = "rows",
                          .inputs = {table.random({2, 3})},
                          .apply = [](const auto& x) { return clone(x[0]); },
                          .reference = reshaped({2, 3})}},
             .errors = {{"undefined", [] { clone(Tensor()); }}}});
}

void add_reordering_rows(OpTable& table) {
  table.add({.name = "permute",
             .samples = {{.note = "cycle",
                          .inputs = {table.random({2, 3, 4})},
                          .apply =
                              [](const auto& x) {
                                return permute(x[0], {2, 0, -2});
                              },
                          .reference = remap({4, 2, 3},
                                             [](const Shape& i) {
                                               return Shape{i[1], i[2], i[0]};
                                             })}},
             .errors = {{"listed twice",
                         [] {
                           permute(ones({2, 3}), {0, -2});
                         }},
                        {"the order lists 1",
                         [] {
                           permute(ones({2, 3}), {0});
                         }},
                        {"out of range", [] {
                           permute(ones({2, 3}), {0, 2});
                         }}}});
  table.add({.name = "transpose",
             .samples = {{.note = "the last two",
                          .inputs = {table.random({2, 3, 4})},
                          .apply = [](const auto& x) { return transpose(x[0]); },
                          .reference = remap({2, 4, 3},
                                             [](const Shape& i) {
                                               return Shape{i[0], i[2], i[1]};
                                             })},
                         {.note = "the outer two",
                          .inputs = {table.random({2, 3, 4})},
                          .apply = [](const auto& x) { return transpose(x[0], 0, 2); },
                          .reference = remap({4, 3, 2},
                                             [](const Shape& i) {
                                               return Shape{i[2], i[1], i[0]};
                                             })}},
             .errors = {{"out of range", [] { transpose(ones({2})); }}}});
  table.add({.name = "flip",
             .samples = {{.note = "two axes",
                          .inputs = {table.random({2, 3, 4})},
                          .apply =
                              [](const auto& x) {
                                return flip(x[0], {0, -1});
                              },
                          .reference = remap({2, 3, 4},
                                             [](const Shape& i) {
                                               return Shape{1 - i[0], i[1], 3 - i[2]};
                                             })}},
             .errors = {{"listed twice", [] {
                           flip(ones({2, 3}), {1, -1});
                         }}}});
  table.add({.name = "expand",
             .samples = {{.note = "a middle axis and a new one",
                          .inputs = {table.random({3, 1, 2})},
                          .apply =
                              [](const auto& x) {
                                return expand(x[0], {2, -1, 4, 2});
                              },
                          .reference = remap({2, 3, 4, 2},
                                             [](const Shape& i) {
                                               return Shape{i[1], 0, i[3]};
                                             })}},
             .empty = {{.note = "to nothing",
                        .inputs = {table.random({1, 2})},
                        .apply =
                            [](const auto& x) {
                              return expand(x[0], {0, 2});
                            },
                        .reference =
                            [](const auto&) {
                              return Dense(Shape{0, 2});
                            }}},
             .errors = {{"only axes of size 1", [] { expand(ones({2}), {3}); }},
                        {"more axes",
                         [] {
                           expand(ones({2, 3}), {3});
                         }},
                        {"does not expand", [] {
                           expand(ones({2}), {-1, 2});
                         }}}});
  table.add({.name = "tile",
             .samples = {{.note = "both axes",
                          .inputs = {table.random({2, 3})},
                          .apply =
                              [](const auto& x) {
                                return tile(x[0], {3, 2});
                              },
                          .reference = remap({6, 6},
                                             [](const Shape& i) {
                                               return Shape{i[0] % 2, i[1] % 3};
                                             })},
                         {.note = "a new axis",
                          .inputs = {table.random({3})},
                          .apply =
                              [](const auto& x) {
                                return tile(x[0], {2, 1});
                              },
                          .reference = remap({2, 3}, [](const Shape& i) { return Shape{i[1]}; })},
                         {.note = "the last axis only",
                          .inputs = {table.random({2, 2})},
                          .apply = [](const auto& x) { return tile(x[0], {2}); },
                          .reference = remap({2, 4},
                                             [](const Shape& i) {
                                               return Shape{i[0], i[1] % 2};
                                             })}},
             .empty = {{.note = "no times",
                        .inputs = {table.random({2, 3})},
                        .apply =
                            [](const auto& x) {
                              return tile(x[0], {0, 1});
                            },
                        .reference =
                            [](const auto&) {
                              return Dense(Shape{0, 3});
                            }}},
             .errors = {{"negative", [] { tile(ones({2}), {-1}); }},
                        {"more than 2^60", [] {
                           tile(zeros({0, 4}), {1, INT64_MAX});
                         }}}});
}

void add_rows(OpTable& table) {
  add_reshaping_rows(table);
  add_reordering_rows(table);
}

const Family family(add_rows);

}  // namespace
}  // namespace ladon::test
