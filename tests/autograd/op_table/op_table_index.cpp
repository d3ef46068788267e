// Rows of autograd/ops/index.h.

#include "ladon/autograd/ops/index.h"
#include "op_table.h"

namespace ladon::test {
namespace {

std::int64_t wrapped(double index, std::int64_t n) {
  const auto i = static_cast<std::int64_t>(index);
  return i < 0 ? i + n : i;
}

/// Calls body(place in x, place in index) for every index, along `axis`.
void for_each_place(const Dense& x, const Dense& index, int axis,
                    const std::function<void(const Shape&, const Shape&)>& body) {
  for_each_index(index.shape, [&](const Shape& p) {
    Shape place = p;
    place[axis] = wrapped(index(p), x.shape[axis]);
    body(place, p);
  });
}

Reference gathered(int axis) {
  return [axis](const std::vector<Dense>& in) {
    Dense y(in[1].shape);
    for_each_place(in[0], in[1], axis,
                   [&](const Shape& place, const Shape& p) { y(p) = in[0](place); });
    return y;
  };
}

Reference scattered(int axis, bool add) {
  return [=](const std::vector<Dense>& in) {
    Dense y = in[0];
    for_each_place(in[0], in[1], axis, [&](const Shape& place, const Shape& p) {
      y(place) = in[2](p) + (add ? y(place) : 0);
    });
    return y;
  };
}

/// Rows of the table in[0] at in[1].
Dense rows(const std::vector<Dense>& in) {
  const std::int64_t d = in[0].shape[1];
  Shape shape = in[1].shape;
  shape.append(d);
  Dense y(shape);
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const auto column = static_cast<std::int64_t>(i) % d;
    const double index = in[1].values[i / static_cast<std::size_t>(d)];
    y.values[i] = in[0]({wrapped(index, in[0].shape[0]), column});
  }
  return y;
}

Tensor indices(std::initializer_list<double> values) { return tensor(values, i64); }

void add_reading_rows(OpTable& table) {
  table.add(
      {.name = "index_select",
       .samples = {{.note = "repeated rows",
                    .inputs = {table.random({4, 3}), indices({2, 0, 2, 3})},
                    .apply = [](const auto& x) { return index_select(x[0], 0, x[1]); },
                    .reference = rows},
                   {.note = "the middle axis",
                    .inputs = {table.random({2, 3, 2}), indices({2, 0})},
                    .apply = [](const auto& x) { return index_select(x[0], 1, x[1]); },
                    .reference =
                        [](const std::vector<Dense>& in) {
                          Dense y(Shape{2, 2, 2});
                          for_each_index(y.shape, [&](const Shape& i) {
                            y(i) = in[0]({i[0], i[1] == 0 ? 2 : 0, i[2]});
                          });
                          return y;
                        }}},
       .empty = {{.note = "no index",
                  .inputs = {table.random({4, 3}), indices({})},
                  .apply = [](const auto& x) { return index_select(x[0], 0, x[1]); },
                  .reference = rows}},
       .errors = {{"index 3 at position 0 is outside [0, 3)",
                   [] { index_select(ones({3}), 0, indices({3})); }},
                  {"index -1 at position 1 is outside [0, 3)",
                   [] {
                     index_select(ones({3}), 0, indices({0, -1}));
                   }},
                  {"indices must be i64, got f32", [] { index_select(ones({3}), 0, ones({1})); }},
                  {"one axis", [] {
                     index_select(ones({3}), 0, zeros({1, 1}, i64));
                   }}}});
  table.add(
      {.name = "gather",
       .samples = {{.note = "the last axis, repeated",
                    .inputs = {table.random({3, 4}), table.random_integers({3, 6}, 0, 4)},
                    .apply = [](const auto& x) { return gather(x[0], -1, x[1]); },
                    .reference = gathered(1)},
                   {.note = "the first axis, index smaller off it",
                    .inputs = {table.random({4, 3, 3}), table.random_integers({5, 2, 3}, 0, 4)},
                    .apply = [](const auto& x) { return gather(x[0], 0, x[1]); },
                    .reference = gathered(0)}},
       .empty = {{.note = "no index",
                  .inputs = {table.random({3, 4}), zeros({3, 0}, i64)},
                  .apply = [](const auto& x) { return gather(x[0], 1, x[1]); },
                  .reference = gathered(1)}},
       .errors = {
           {"index 4 at position 0 is outside", [] { gather(ones({4}), 0, indices({4})); }},
           {"index -1 at position 0 is outside", [] { gather(ones({4}), 0, indices({-1})); }},
           {"must have the rank", [] { gather(ones({4, 2}), 0, indices({1})); }},
           {"is larger than", [] {
              gather(ones({4, 2}), 0, zeros({1, 3}, i64));
            }}}});
  table.add({.name = "embedding",
             .samples = {{.note = "a batch of tokens",
                          .inputs = {table.random({5, 3}), table.random_integers({2, 4}, 0, 5)},
                          .apply = [](const auto& x) { return embedding(x[0], x[1]); },
                          .reference = rows},
                         {.note = "one token",
                          .inputs = {table.random({5, 3}), scalar(4, i64)},
                          .apply = [](const auto& x) { return embedding(x[0], x[1]); },
                          .reference = rows}},
             .empty = {{.note = "no token",
                        .inputs = {table.random({5, 3}), zeros({2, 0}, i64)},
                        .apply = [](const auto& x) { return embedding(x[0], x[1]); },
                        .reference = rows}},
             .errors = {{"index 5 at position 0 is outside [0, 5)",
                         [] {
                           embedding(ones({5, 3}), indices({5}));
                         }},
                        {"the table must have shape", [] { embedding(ones({5}), indices({0})); }},
                        {"padding_index 5", [] {
                           embedding(ones({5, 3}), indices({0}), {.padding_index = 5});
                         }}}});
  table.add(
      {.name = "masked_select",
       .maps = false,
       .samples = {{.note = "some",
                    .inputs = {table.random({3, 4}), table.random_booleans({3, 4})},
                    .apply = [](const auto& x) { return masked_select(x[0], x[1]); },
                    .reference =
                        [](const std::vector<Dense>& in) {
                          std::vector<double> chosen;
                          for (std::size_t i = 0; i < in[0].values.size(); ++i)
                            if (in[1].values[i] != 0) chosen.push_back(in[0].values[i]);
                          Dense y(Shape{static_cast<std::int64_t>(chosen.size())});
                          y.values = chosen;
                          return y;
                        }}},
       .empty = {{.note = "none",
                  .inputs = {table.random({3}), zeros({3}, boolean)},
                  .apply = [](const auto& x) { return masked_select(x[0], x[1]); },
                  .reference = [](const auto&) { return Dense(Shape{0}); }}},
       .errors = {{"the mask must be bool", [] { masked_select(ones({2}), ones({2})); }},
                  {"[3], the tensor [2]", [] { masked_select(ones({2}), ones({3}, boolean)); }}}});
}

void add_writing_rows(OpTable& table) {
  table.add(
      {.name = "scatter_add",
       .samples = {{.note = "repeated places",
                    .inputs = {table.random({3, 4}), table.random_integers({3, 6}, 0, 4),
                               table.random({3, 6})},
                    .apply = [](const auto& x) { return scatter_add(x[0], 1, x[1], x[2]); },
                    .reference = scattered(1, true)},
                   {.note = "the first axis",
                    .inputs = {table.random({3, 2, 2}), table.random_integers({4, 2, 1}, 0, 3),
                               table.random({4, 2, 1})},
                    .apply = [](const auto& x) { return scatter_add(x[0], 0, x[1], x[2]); },
                    .reference = scattered(0, true)}},
       .errors = {{"the source has shape [1], the index [2]",
                   [] {
                     scatter_add(ones({2}), 0, indices({0, 1}), ones({1}));
                   }},
                  {"the source is f64, the tensor f32",
                   [] { scatter_add(ones({2}), 0, indices({0}), ones({1}, f64)); }}}});
  table.add({.name = "scatter",
             .samples = {{.note = "the last of repeated writes stays",
                          .inputs = {table.random({3, 4}), table.random_integers({3, 6}, 0, 4),
                                     table.random({3, 6})},
                          .apply = [](const auto& x) { return scatter(x[0], 1, x[1], x[2]); },
                          .reference = scattered(1, false)},
                         {.note = "the first axis",
                          .inputs = {table.random({4, 2}), table.random_integers({2, 2}, 0, 4),
                                     table.random({2, 2})},
                          .apply = [](const auto& x) { return scatter(x[0], 0, x[1], x[2]); },
                          .reference = scattered(0, false)}},
             .empty = {{.note = "nothing written",
                        .inputs = {table.random({2, 2}), zeros({0, 2}, i64), table.random({0, 2})},
                        .apply = [](const auto& x) { return scatter(x[0], 0, x[1], x[2]); },
                        .reference = scattered(0, false)}},
             .errors = {{"index -3 at position 0 is outside [0, 2)",
                         [] { scatter(ones({2}), 0, indices({-3}), ones({1})); }}}});
  table.add({.name = "one_hot",
             .samples = {{.note = "a matrix",
                          .inputs = {table.random_integers({2, 3}, 0, 4)},
                          .apply = [](const auto& x) { return one_hot(x[0], 4); },
                          .reference =
                              [](const std::vector<Dense>& in) {
                                Dense y(Shape{2, 3, 4});
                                for_each_index(in[0].shape, [&](const Shape& i) {
                                  y({i[0], i[1], static_cast<std::int64_t>(in[0](i))}) = 1;
                                });
                                return y;
                              },
                          .differentiable = false}},
             .errors = {{"index 4 at position 0 is outside", [] { one_hot(indices({4}), 4); }},
                        {"is negative", [] { one_hot(indices({0}), -1); }}}});
  table.add({.name = "nonzero",
             .maps = false,
             .samples = {{.note = "a matrix",
                          .inputs = {table.random_integers({3, 4}, 0, 2)},
                          .apply = [](const auto& x) { return nonzero(x[0]); },
                          .reference =
                              [](const std::vector<Dense>& in) {
                                std::vector<double> places;
                                for_each_index(in[0].shape, [&](const Shape& i) {
                                  if (in[0](i) == 0) return;
                                  places.push_back(static_cast<double>(i[0]));
                                  places.push_back(static_cast<double>(i[1]));
                                });
                                const auto count = static_cast<std::int64_t>(places.size() / 2);
                                Dense y(Shape{count, 2});
                                y.values = places;
                                return y;
                              },
                          .differentiable = false}},
             .errors = {{"undefined", [] { nonzero(Tensor()); }}}});
}

void add_rows(OpTable& table) {
  add_reading_rows(table);
  add_writing_rows(table);
}

const Family family(add_rows);

}  // namespace
}  // namespace ladon::test
