// Rows of autograd/ops/pooling.h.

#include <algorithm>
#include <cmath>

#include "ladon/autograd/extra/windows/pooling.h"
#include "ladon/tests/autograd/op_table/op_table.h"

namespace ladon::test {
namespace {

using Inputs = std::vector<Tensor>;

/// The positions of one axis that window i sees.
using Seen = std::function<std::vector<std::int64_t>(int axis, std::int64_t i)>;

/// y[n, window, c] = f(elements that the window sees, their positions in row-major order).
Reference pooled(
    const Shape& counts, const Seen& seen,
    const std::function<double(const std::vector<double>&, const std::vector<std::int64_t>&)>& f) {
  return [=](const std::vector<Dense>& in) {
    const Dense& x = in[0];
    const int axes = counts.rank();
    Shape shape = counts;
    shape.insert(0, x.shape[0]);
    shape.append(x.shape[axes + 1]);
    Dense y(shape);
    for_each_index(shape, [&](const Shape& index) {
      std::vector<double> values;
      std::vector<std::int64_t> places;
      for_each_index(x.shape.sub(1, axes + 1), [&](const Shape& at) {
        Shape from = at;
        std::int64_t place = 0;
        for (int a = 0; a < axes; ++a) {
          const std::vector<std::int64_t> here = seen(a, index[a + 1]);
          if (std::find(here.begin(), here.end(), at[a]) == here.end()) return;
          place = place * x.shape[a + 1] + at[a];
        }
        from.insert(0, index[0]);
        from.append(index[axes + 1]);
        values.push_back(x(from));
        places.push_back(place);
      });
      y(index) = f(values, places);
    });
    return y;
  };
}

Seen windows(Shape size, Shape stride, Shape before, Shape dilation) {
  return [=](int a, std::int64_t i) {
    std::vector<std::int64_t> positions;
    for (std::int64_t o = 0; o < size[a]; ++o)
      positions.push_back(i * stride[a] - before[a] + o * dilation[a]);
    return positions;
  };
}

/// [⌊i·n/count⌋, ⌈(i + 1)·n/count⌉)
Seen even(Shape n, Shape counts) {
  return [=](int a, std::int64_t i) {
    std::vector<std::int64_t> positions;
    const double size = static_cast<double>(n[a]) / static_cast<double>(counts[a]);
    for (auto at = static_cast<std::int64_t>(std::floor(static_cast<double>(i) * size + 1e-9));
         static_cast<double>(at) < static_cast<double>(i + 1) * size - 1e-9; ++at)
      positions.push_back(at);
    return positions;
  };
}

double largest(const std::vector<double>& x, const std::vector<std::int64_t>&) {
  return x.empty() ? -INFINITY : *std::max_element(x.begin(), x.end());
}

double place_of_largest(const std::vector<double>& x, const std::vector<std::int64_t>& places) {
  if (x.empty()) return -1;
  return static_cast<double>(
      places[static_cast<std::size_t>(std::max_element(x.begin(), x.end()) - x.begin())]);
}

double total(const std::vector<double>& x, const std::vector<std::int64_t>&) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum;
}

double average(const std::vector<double>& x, const std::vector<std::int64_t>& places) {
  return total(x, places) / static_cast<double>(x.size());
}

/// Rows (5 + 1 + 0 − 3)/2 + 1 = 2, columns 4 + 1 + 1 − 2·1 − 1 + 1 = 4.
const WindowOptions uneven{.stride = {2, 1}, .before = {1, 1}, .after = {0, 1}, .dilation = {1, 2}};
const Seen uneven_windows = windows({3, 2}, {2, 1}, {1, 1}, {1, 2});
const Seen pairs = windows({2}, {2}, {0}, {1});

void add_max(OpTable& t) {
  const auto side_by_side = [](const Inputs& in) { return max_pool(in[0], {2}); };
  t.add({.name = "max_pool",
         .samples = {{.note = "side by side, the last one left out",
                      .inputs = {t.random({2, 5, 3})},
                      .apply = side_by_side,
                      .reference = pooled({2}, pairs, largest)},
                     {.note = "overlapping, uneven padding, dilation",
                      .inputs = {t.random({2, 5, 4, 2})},
                      .apply =
                          [](const Inputs& in) {
                            return max_pool(in[0], {3, 2}, uneven);
                          },
                      .reference = pooled({2, 4}, uneven_windows, largest)},
                     {.note = "three axes",
                      .inputs = {t.random({1, 2, 3, 2, 2})},
                      .apply =
                          [](const Inputs& in) {
                            return max_pool(in[0], {2, 2, 1}, {.stride = {1, 1, 1}});
                          },
                      .reference = pooled(
                          {1, 2, 2}, windows({2, 2, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}), largest)},
                     {.note = "a window that sees nothing",
                      .inputs = {t.random({1, 1, 2})},
                      .apply =
                          [](const Inputs& in) {
                            return max_pool(in[0], {2},
                                            {.stride = {1}, .before = {1}, .dilation = {2}});
                          },
                      .reference = pooled({1}, windows({2}, {1}, {1}, {2}), largest),
                      .differentiable = false}},
         .empty = {{.note = "no images",
                    .inputs = {t.random({0, 5, 3})},
                    .apply = side_by_side,
                    .reference = pooled({2}, pairs, largest)},
                   {.note = "no channels",
                    .inputs = {t.random({2, 5, 0})},
                    .apply = side_by_side,
                    .reference = pooled({2}, pairs, largest)}},
         .errors = {{"expects [N, positions.., channels]", [] { max_pool(ones({2, 5}), {2}); }},
                    {"a window of 6 does not fit", [] { max_pool(ones({2, 5, 1}), {6}); }},
                    {"have 2 axes", [] { max_pool(ones({2, 5, 1}), {2, 2}); }},
                    {"window [0] must have numbers from 1", [] { max_pool(ones({2, 5, 1}), {0}); }},
                    {"i64", [] {
                       max_pool(ones({2, 5, 1}, i64), {2});
                     }}}});
  t.add({.name = "max_pool_with_indices",
         .samples = {{.note = "values",
                      .inputs = {t.random({2, 5, 4, 2})},
                      .apply =
                          [](const Inputs& in) {
                            return max_pool_with_indices(in[0], {3, 2}, uneven).values;
                          },
                      .reference = pooled({2, 4}, uneven_windows, largest)},
                     {.note = "indices",
                      .inputs = {t.random({2, 5, 4, 2})},
                      .apply =
                          [](const Inputs& in) {
                            return max_pool_with_indices(in[0], {3, 2}, uneven).indices;
                          },
                      .reference = pooled({2, 4}, uneven_windows, place_of_largest),
                      .differentiable = false},
                     {.note = "no index where nothing is seen",
                      .inputs = {t.random({1, 1, 2})},
                      .apply =
                          [](const Inputs& in) {
                            const WindowOptions apart{
                                .stride = {1}, .before = {1}, .dilation = {2}};
                            return max_pool_with_indices(in[0], {2}, apart).indices;
                          },
                      .reference = pooled({1}, windows({2}, {1}, {1}, {2}), place_of_largest),
                      .differentiable = false}},
         .errors = {{"a window of 6 does not fit", [] {
                       max_pool_with_indices(ones({2, 5, 1}), {6});
                     }}}});
}

void add_average(OpTable& t) {
  const auto with = [](const AveragePoolOptions& o) {
    return [o](const Inputs& in) { return average_pool(in[0], {3, 2}, o); };
  };
  AveragePoolOptions all{.stride = uneven.stride,
                         .before = uneven.before,
                         .after = uneven.after,
                         .dilation = uneven.dilation};
  AveragePoolOptions inside = all, summed = all;
  all.count_padding = true;
  summed.divisor = 2;
  const auto over = [](double n) {
    return [n](const std::vector<double>& x, const std::vector<std::int64_t>& at) {
      return total(x, at) / n;
    };
  };
  const Tensor x = t.random({2, 5, 4, 2});
  t.add({.name = "average_pool",
         .samples = {{.note = "side by side",
                      .inputs = {t.random({2, 5, 3})},
                      .apply = [](const Inputs& in) { return average_pool(in[0], {2}); },
                      .reference = pooled({2}, pairs, average)},
                     {.note = "padding counts",
                      .inputs = {x},
                      .apply = with(all),
                      .reference = pooled({2, 4}, uneven_windows, over(6))},
                     {.note = "padding does not count",
                      .inputs = {x},
                      .apply = with(inside),
                      .reference = pooled({2, 4}, uneven_windows, average)},
                     {.note = "a divisor",
                      .inputs = {x},
                      .apply = with(summed),
                      .reference = pooled({2, 4}, uneven_windows, over(2))}},
         .empty = {{.note = "no images",
                    .inputs = {t.random({0, 5, 4, 2})},
                    .apply = with(inside),
                    .reference = pooled({2, 4}, uneven_windows, average)}},
         .errors = {{"the divisor is 0",
                     [] {
                       average_pool(ones({2, 5, 1}), {2}, {.divisor = 0});
                     }},
                    {"stride [1, 1] has 2 numbers", [] {
                       average_pool(ones({2, 5, 1}), {2}, {.stride = {1, 1}});
                     }}}});
}

template <Tensor (*f)(const Tensor&, const Shape&)>
OpRow adaptive(OpTable& t, const std::string& name,
               double (*of)(const std::vector<double>&, const std::vector<std::int64_t>&)) {
  return {.name = name,
          .samples = {{.note = "7 positions in 3 windows",
                       .inputs = {t.random({2, 7, 2})},
                       .apply = [](const Inputs& in) { return f(in[0], {3}); },
                       .reference = pooled({3}, even({7}, {3}), of)},
                      {.note = "fewer rows, more columns",
                       .inputs = {t.random({2, 4, 3, 2})},
                       .apply =
                           [](const Inputs& in) {
                             return f(in[0], {2, 5});
                           },
                       .reference = pooled({2, 5}, even({4, 3}, {2, 5}), of)}},
          .empty = {{.note = "no images",
                     .inputs = {t.random({0, 7, 2})},
                     .apply = [](const Inputs& in) { return f(in[0], {3}); },
                     .reference = pooled({3}, even({7}, {3}), of)}},
          .errors = {{"must be positive",
                      [] {
                        f(ones({2, 7, 2}), {0});
                      }},
                     {"no positions along axis 0",
                      [] {
                        f(ones({2, 0, 2}), {1});
                      }},
                     {"have 2 axes", [] {
                        f(ones({2, 7, 2}), {1, 1});
                      }}}};
}

void add_pooling_rows(OpTable& table) {
  add_max(table);
  add_average(table);
  table.add(adaptive<adaptive_max_pool>(table, "adaptive_max_pool", largest));
  table.add(adaptive<adaptive_average_pool>(table, "adaptive_average_pool", average));
}

const Family family(add_pooling_rows);

}  // namespace
}  // namespace ladon::test
