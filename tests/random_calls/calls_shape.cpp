// Random calls of operations on shapes.

#include <algorithm>

#include "table.h"

namespace ladon::test {
namespace {

Slice range(Draw& d) {
  Slice s;
  if (d.chance(0.6)) s.start = d.integer();
  if (d.chance(0.6)) s.stop = d.integer();
  if (d.chance(0.4)) s.step = d.integer();
  return s;
}

std::vector<AxisIndex> index_list(Draw& d) {
  std::vector<AxisIndex> list;
  const int rank = d.subject().defined() ? d.subject().rank() : 2;
  const std::int64_t n = d.chance(0.05) ? d.below(10) : d.below(rank + 1);
  for (std::int64_t i = 0; i < n; ++i) {
    if (d.chance(0.1))
      list.emplace_back(ellipsis);
    else if (d.chance(0.1))
      list.emplace_back(d.integer(), d.integer(), d.integer());
    else if (d.chance(0.5))
      list.emplace_back(d.around(-1, 1));
    else
      list.emplace_back(range(d));
  }
  return list;
}

/// Another shape of as many elements, mostly; one of its sizes may be −1.
Shape regrouped(Draw& d) {
  if (!d.subject().defined() || d.chance(0.15)) return d.shape();
  std::int64_t left = d.subject().count();
  Shape shape;
  while (left > 1 && shape.rank() < Shape::max_rank - 1 && d.chance(0.7)) {
    const std::int64_t n = d.one_of<std::int64_t>({1, 2, 3, 4, 5});
    if (left % n != 0) continue;
    shape.append(n);
    left /= n;
  }
  shape.append(d.chance(0.3) ? -1 : left);
  return d.say(shape);
}

Shape expanded(Draw& d) {
  Shape shape = d.subject().defined() ? d.subject().shape() : d.shape();
  for (std::int64_t& n : shape)
    if (n == 1 || d.chance(0.05)) n = d.around(-1, 4);
  while (shape.rank() < Shape::max_rank && d.chance(0.2)) shape.insert(0, d.around(0, 3));
  return d.say(shape);
}

/// Sizes that add up to those of an axis, mostly.
std::vector<std::int64_t> pieces(Draw& d) {
  std::vector<std::int64_t> sizes;
  std::int64_t left = d.some_size();
  while (left > 0 && sizes.size() < 6) {
    const std::int64_t n = d.around(0, left);
    sizes.push_back(n);
    if (n <= left) left -= std::max<std::int64_t>(n, 0);
  }
  return sizes;
}

void add_views(CallTable& table) {
  table.add("reshape", reshape, perhaps_giant, regrouped);
  table.add("flatten", flatten, perhaps_giant, axis, axis);
  table.add("permute", permute, perhaps_giant, axis_list);
  table.add("transpose", transpose, perhaps_giant, axis, axis);
  table.add("expand", expand, perhaps_giant, expanded);
  table.add("unsqueeze", unsqueeze, perhaps_giant, axis);
  table.add(
      "squeeze", squeeze,
      [](Draw& d) {
        const Tensor x = d.tensor();
        return d.chance(0.5) && x.defined() && x.rank() < 8 ? unsqueeze(x, 0) : x;
      },
      [](Draw& d) { return d.chance(0.5) ? 0 : d.axis(); });
  table.add("slice", slice, perhaps_giant, axis, range);
  table.add("select", select, perhaps_giant, axis, [](Draw& d) { return d.around(-1, 1); });
  table.add("at", at, perhaps_giant, index_list);
  table.add("flip", flip, perhaps_giant, axis_list);
  table.add("roll", roll, any_tensor, integer, axis);
  table.add("diagonal", diagonal, perhaps_giant, integer, axis, axis);
}

/// Sometimes by counts whose sum with the size, if sums wrapped around, would be a few.
Tensor padded(Draw& d) {
  const Tensor x = d.perhaps_giant();
  std::vector<std::int64_t> before = d.count_list(), after = d.count_list();
  const auto axes = static_cast<int>(std::min(before.size(), after.size()));
  if (d.chance(0.05) && axes > 0 && x.defined() && x.rank() == axes) {
    const auto i = static_cast<std::size_t>(d.below(axes));
    const auto low = static_cast<std::uint64_t>(d.integer());
    const auto size = static_cast<std::uint64_t>(x.shape()[static_cast<int>(i)]);
    before[i] = static_cast<std::int64_t>(low);
    after[i] = d.say(static_cast<std::int64_t>(2 - size - low));
  }
  return pad(x, before, after, d.number());
}

}  // namespace

void add_shape_calls(CallTable& table) {
  add_views(table);
  table.add("concat", static_cast<Tensor (*)(const Tensors&, int)>(concat), some_tensors, axis);
  table.add("stack", stack, some_tensors, axis);
  table.add(
      "split",
      [](const Tensor& x, const std::vector<std::int64_t>& sizes, int a) {
        return split(x, sizes, a);
      },
      perhaps_giant, pieces, axis);
  table.add(
      "split", [](const Tensor& x, std::int64_t n, int a) { return split(x, n, a); }, perhaps_giant,
      size, axis);
  table.add(
      "split",
      [](const Tensor& x, std::int64_t n, int a) {
        return split(x, {n, 1}, a);
      },
      perhaps_giant, size, axis);
  table.add("tile", tile, perhaps_giant, count_list);
  table.add("pad", padded);
  table.add("tril", tril, perhaps_giant, integer);
  table.add("triu", triu, perhaps_giant, integer);
  table.add("contiguous", contiguous, perhaps_giant);
  table.add("clone", static_cast<Tensor (*)(const Tensor&)>(clone), perhaps_giant);
}

}  // namespace ladon::test
