// Rows of the operations that group elements: scatter_reduce and unique (autograd/ops/index.h).

#include <algorithm>
#include <map>

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

using Numbers = std::vector<double>;

/// Each element of in[0] becomes f of the elements of in[2] that in[1] sends to it along `axis`,
/// its own before them where include_self, or where there are none.
Reference reduced(int axis, bool include_self, const std::function<double(const Numbers&)>& f) {
  return [=](const std::vector<Dense>& in) {
    Dense y = in[0];
    for_each_index(y.shape, [&](const Shape& to) {
      Numbers list;
      for_each_index(in[1].shape, [&](const Shape& from) {
        Shape target = from;
        target[axis] = static_cast<std::int64_t>(in[1](from));
        if (target == to) list.push_back(in[2](from));
      });
      if (include_self || list.empty()) list.push_back(in[0](to));
      y(to) = f(list);
    });
    return y;
  };
}

double mean_of(const Numbers& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}
double sum_of(const Numbers& v) { return mean_of(v) * static_cast<double>(v.size()); }
double product_of(const Numbers& v) {
  double product = 1;
  for (const double x : v) product *= x;
  return product;
}
double largest_of(const Numbers& v) { return *std::max_element(v.begin(), v.end()); }
double least_of(const Numbers& v) { return *std::min_element(v.begin(), v.end()); }

void add_scatter_reduce(OpTable& t) {
  OpRow row{.name = "scatter_reduce", .samples = {}};
  const std::vector<std::tuple<Scattered, const char*, double (*)(const Numbers&)>> all{
      {Scattered::sum, "sum", sum_of},
      {Scattered::prod, "prod", product_of},
      {Scattered::mean, "mean", mean_of},
      {Scattered::max, "max", largest_of},
      {Scattered::min, "min", least_of}};
  for (const auto& [kind, word, sums] : all)
    for (const bool self : {true, false}) {
      const auto sample = [&, by = kind, name = word, f = sums](
                              const std::string& note, int axis, const Tensor& x,
                              const Tensor& index, const Tensor& source) {
        return OpSample{
            .note = detail::join(name, self ? ", " : " without x, ", note),
            .inputs = {x, index, source},
            .apply =
                [=](const auto& in) { return scatter_reduce(in[0], axis, in[1], in[2], by, self); },
            .reference = reduced(axis, self, f)};
      };
      row.samples.push_back(sample("last axis", 1, t.random({2, 4}),
                                   t.random_integers({2, 5}, 0, 3), t.random({2, 5})));
      row.samples.push_back(sample("first axis, smaller off it", 0, t.random({3, 3}),
                                   t.random_integers({4, 2}, 0, 3), t.random({4, 2})));
      row.empty.push_back(sample("nothing", 0, t.random({3}), zeros({0}, i64), zeros({0}, f64)));
      if (kind != Scattered::prod) continue;
      // Zeros: x's own, one of the source's, and two that meet.
      row.samples.push_back(sample("zeros", 0, tensor({0, 2, 3, 1.5}, f64),
                                   tensor({0, 1, 2, 2, 2, 1}, i64),
                                   tensor({2, 0, 0, 0, 4, 3}, f64)));
    }
  OpSample integers{
      .note = "integers",
      .inputs = {t.random_integers({4}, -9, 9), t.random_integers({9}, 0, 4),
                 t.random_integers({9}, -9, 9)},
      .apply =
          [](const auto& in) { return scatter_reduce(in[0], 0, in[1], in[2], Scattered::prod); },
      .reference = reduced(0, true, product_of),
      .differentiable = false};
  row.samples.push_back(integers);
  row.errors = {
      {"[scatter_reduce] index 2 at position 0 is outside",
       [] { scatter_reduce(ones({2}), 0, tensor({2}, i64), ones({1}), Scattered::max); }},
      {"the source has shape [1], the index [2]",
       [] { scatter_reduce(ones({2}), 0, zeros({2}, i64), ones({1}), Scattered::prod); }},
      {"needs a floating-point tensor",
       [] { scatter_reduce(ones({2}, i64), 0, zeros({1}, i64), ones({1}, i64), Scattered::mean); }},
      {"does not reduce booleans", [] {
         scatter_reduce(ones({2}, boolean), 0, zeros({1}, i64), ones({1}, boolean), Scattered::max);
       }}};
  t.add(row);
}

/// The rows of x in order, each with the places where it stands.
std::map<Numbers, Numbers> places_of(const Dense& x, bool rows) {
  std::map<Numbers, Numbers> places;
  const std::size_t n = rows ? static_cast<std::size_t>(x.shape[0]) : x.values.size();
  const std::size_t width = n == 0 ? 0 : x.values.size() / n;
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = x.values.begin() + static_cast<std::ptrdiff_t>(i * width);
    places[Numbers(begin, begin + static_cast<std::ptrdiff_t>(width))].push_back(
        static_cast<double>(i));
  }
  return places;
}

enum class Part { values, first, inverse, counts };

Reference grouped(Part part, bool rows) {
  return [=](const std::vector<Dense>& in) {
    const auto places = places_of(in[0], rows);
    const auto k = static_cast<std::int64_t>(places.size());
    Dense y(part == Part::inverse          ? (rows ? Shape{in[0].shape[0]} : in[0].shape)
            : part == Part::values && rows ? Shape{k, in[0].shape[1]}
                                           : Shape{k});
    y.values.resize(part == Part::inverse ? y.values.size() : 0);
    double number = 0;
    for (const auto& [value, where] : places) {
      if (part == Part::values) y.values.insert(y.values.end(), value.begin(), value.end());
      if (part == Part::first) y.values.push_back(where[0]);
      if (part == Part::counts) y.values.push_back(static_cast<double>(where.size()));
      if (part == Part::inverse)
        for (const double p : where) y.values[static_cast<std::size_t>(p)] = number;
      ++number;
    }
    return y;
  };
}

void add_unique(OpTable& t) {
  OpRow row{.name = "unique", .maps = false, .samples = {}};
  const auto sample = [](const std::string& note, const Tensor& x, Part part, bool rows) {
    return OpSample{.note = note,
                    .inputs = {x},
                    .apply =
                        [=](const auto& in) {
                          const UniqueElements u = rows ? unique(in[0], 0) : unique(in[0]);
                          return part == Part::values    ? u.values
                                 : part == Part::first   ? u.first
                                 : part == Part::inverse ? u.inverse
                                                         : u.counts;
                        },
                    .reference = grouped(part, rows),
                    .differentiable = false};
  };
  const Tensor few = t.random_integers({3, 4}, 0, 4), pairs = t.random_integers({9, 2}, 0, 2);
  for (const Part part : {Part::values, Part::first, Part::inverse, Part::counts}) {
    row.samples.push_back(sample("elements", few, part, false));
    row.samples.push_back(sample("rows", pairs, part, true));
    row.empty.push_back(sample("nothing", zeros({0, 2}, f64), part, true));
  }
  row.samples.push_back(sample("different numbers", t.random({5}), Part::values, false));
  row.samples.back().differentiable = true;
  row.errors = {{"axis", [] { unique(ones({2}), 1); }}, {"undefined", [] { unique(Tensor()); }}};
  t.add(row);
}

void add_group_rows(OpTable& t) {
  add_scatter_reduce(t);
  add_unique(t);
}

const Family family(add_group_rows);

}  // namespace
}  // namespace ladon::test
