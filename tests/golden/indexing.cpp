// ONNX operators that index tensors.

#include <algorithm>
#include <map>
#include <optional>

#include "case.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::golden {
namespace {

/// ONNX counts negative indices from the end of an axis of size n.
Tensor from_the_front(const Tensor& index, std::int64_t n) {
  return where(less(index, 0), index + static_cast<double>(n), index);
}

Tensors gather_case(const Case& c) {
  const Tensor& x = c.in(0);
  const int axis = c.axis("axis", 0, c.in(0).rank());
  const Tensor index = from_the_front(c.in(1), x.size(axis));
  Shape shape = x.shape().sub(0, axis);
  for (const std::int64_t size : index.shape()) shape.append(size);
  for (int i = axis + 1; i < x.rank(); ++i) shape.append(x.size(i));
  return {reshape(index_select(x, axis, reshape(index, {index.count()})), shape)};
}

/// `reduction` as ONNX names it.
Tensor scatter_with(const std::string& reduction, const Tensor& x, int axis, const Tensor& index,
                    const Tensor& updates) {
  if (reduction == "none") return scatter(x, axis, index, updates);
  const std::map<std::string, Scattered> known{{"add", Scattered::sum},
                                               {"mul", Scattered::prod},
                                               {"max", Scattered::max},
                                               {"min", Scattered::min}};
  const auto by = known.find(reduction);
  LADON_CHECK(by != known.end(), "scatter", "unknown reduction ", reduction);
  return scatter_reduce(x, axis, index, updates, by->second);
}

Tensors scatter_elements(const Case& c) {
  const int axis = c.axis("axis", 0, c.in(0).rank());
  return {scatter_with(c.text("reduction", "none"), c.in(0), axis,
                       from_the_front(c.in(1), c.in(0).size(axis)), c.in(2))};
}

/// Row numbers in x, whose `batch` leading axes are matched and whose next index.size(-1) axes are
/// indexed, all merged into one axis of rows: [.., k] → [rows of index].
Tensor row_numbers(const Tensor& x, const Tensor& index, int batch) {
  const int k = static_cast<int>(index.size(-1));
  LADON_CHECK(batch + k <= x.rank(), "GatherND", "an index of ", k, " axes for shape ", x.shape());
  const std::int64_t batches = x.shape().sub(0, batch).count();
  const std::int64_t per_batch = batches == 0 ? 0 : index.count() / batches / std::max(1, k);
  Tensor rows = expand(unsqueeze(arange(batches), 1), {-1, per_batch});
  const Tensor tuples = reshape(index, {batches, per_batch, k});
  for (int j = 0; j < k; ++j) {
    const auto n = static_cast<double>(x.size(batch + j));
    const Tensor at = from_the_front(select(tuples, 2, j), x.size(batch + j));
    LADON_CHECK(all(logical_and(greater_equal(at, 0), less(at, n))).item<bool>(), "GatherND",
                "an index is out of range for axis ", batch + j, " of shape ", x.shape());
    rows = rows * n + at;
  }
  return reshape(rows, {batches * per_batch});
}

/// x with its first `axes` axes merged and the others merged: [rows, block].
Tensor as_rows(const Tensor& x, int axes) {
  return reshape(x, {x.shape().sub(0, axes).count(), x.shape().sub(axes, x.rank()).count()});
}

Tensors gather_nd(const Case& c) {
  const Tensor &x = c.in(0), &index = c.in(1);
  const int batch = c.axis("batch_dims", 0, x.rank());
  const int indexed = batch + static_cast<int>(index.size(-1));
  const Tensor rows = row_numbers(x, index, batch);
  Shape shape = index.shape().sub(0, index.rank() - 1);
  for (int i = indexed; i < x.rank(); ++i) shape.append(x.size(i));
  return {reshape(index_select(as_rows(x, indexed), 0, rows), shape)};
}

Tensors scatter_nd(const Case& c) {
  const Tensor &x = c.in(0), &index = c.in(1);
  const int indexed = static_cast<int>(index.size(-1));
  const Tensor rows = row_numbers(x, index, 0), table = as_rows(x, indexed);
  const Shape to{rows.count(), table.size(1)};
  const Tensor at = expand(unsqueeze(rows, 1), to);
  const std::string reduction = c.text("reduction", "none");
  return {reshape(scatter_with(reduction, table, 0, at, reshape(c.in(2), to)), x.shape())};
}

/// An index outside [−depth, depth) gives a row of the off value.
Tensors one_hot_case(const Case& c) {
  const auto classes = c.in(1).item<std::int64_t>();
  const auto depth = static_cast<double>(classes);
  const Tensor index = cast(c.in(0), i64);
  const int axis = c.axis("axis", -1, index.rank() + 1);
  Shape shape = index.shape().sub(0, axis);
  shape.append(classes);
  for (int i = axis; i < index.rank(); ++i) shape.append(index.size(i));
  c.expect_shape(shape);
  const Tensor outside = logical_or(less(index, -depth), greater_equal(index, depth));
  const Tensor inside = masked_fill(from_the_front(index, classes), outside, 0);
  const Tensor on =
      logical_and(one_hot(inside, classes, boolean), logical_not(unsqueeze(outside, -1)));
  std::vector<int> order;
  for (int i = 0; i < index.rank(); ++i) order.push_back(i);
  order.insert(order.begin() + axis, index.rank());
  const Tensor y = where(on, select(c.in(2), 0, 1), select(c.in(2), 0, 0));
  return {permute(y, order)};
}

Tensors topk_case(const Case& c) {
  const std::int64_t k = c.has(1) ? c.in(1).item<std::int64_t>() : c.integer("k", 1);
  const int axis = c.axis("axis", -1, c.in(0).rank());
  const ValuesAndIndices top = topk(c.in(0), k, {.axis = axis, .largest = c.flag("largest", true)});
  return {top.values, top.indices};
}

Tensors compress(const Case& c) {
  const bool whole = !c.has("axis");
  const Tensor x = whole ? reshape(c.in(0), {c.in(0).count()}) : c.in(0);
  const int axis = whole ? 0 : c.axis("axis", 0, c.in(0).rank());
  return {index_select(x, axis, select(nonzero(c.in(1)), 1, 0))};
}

/// Slices (or elements) without repetition, in ascending or in first-seen order; the first place of
/// each; which one each is; how often it stands there.
Tensors unique_case(const Case& c) {
  std::optional<int> axis;
  if (c.has("axis")) axis = c.axis("axis", 0, c.in(0).rank());
  const UniqueElements u = unique(c.in(0), axis);
  const Tensor which = flatten(u.inverse);
  if (c.flag("sorted", true)) return {u.values, u.first, which, u.counts};
  const Tensor seen = sort(u.first, {.axis = 0}).indices;  // place in the new order → in the old
  const Tensor place = sort(seen, {.axis = 0}).indices;
  return {index_select(u.values, axis.value_or(0), seen), index_select(u.first, 0, seen),
          index_select(place, 0, which), index_select(u.counts, 0, seen)};
}

/// Writes `update` into a cache along an axis, from each batch entry's own position on.
Tensors tensor_scatter(const Case& c) {
  const Tensor &cache = c.in(0), &update = c.in(1);
  const int axis = c.axis("axis", -2, c.in(0).rank());
  const std::int64_t length = update.size(axis), n = cache.size(axis);
  Shape along = Shape::filled(cache.rank(), 1), batch = along;
  along[axis] = length;
  batch[0] = cache.size(0);
  Tensor at = reshape(arange(length), along);
  if (c.has(2)) at = at + reshape(c.in(2), batch);
  if (c.text("mode", "linear") == "circular")
    at = at - cast(greater_equal(at, static_cast<double>(n)), i64) * static_cast<double>(n);
  return {scatter(cache, axis, expand(at, update.shape()), update)};
}

}  // namespace

void add_indexing(Table& t) {
  t["Gather"] = gather_case;
  t["GatherElements"] = [](const Case& c) -> Tensors {
    const int axis = c.axis("axis", 0, c.in(0).rank());
    return {gather(c.in(0), axis, from_the_front(c.in(1), c.in(0).size(axis)))};
  };
  t["GatherND"] = gather_nd;
  t["ScatterElements"] = scatter_elements;
  t["Scatter"] = scatter_elements;
  t["ScatterND"] = scatter_nd;
  t["TensorScatter"] = tensor_scatter;
  t["OneHot"] = one_hot_case;
  t["TopK"] = topk_case;
  t["NonZero"] = [](const Case& c) -> Tensors { return {transpose(nonzero(c.in(0)))}; };
  t["Compress"] = compress;
  t["Unique"] = unique_case;
}

}  // namespace ladon::golden
