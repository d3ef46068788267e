// ONNX operators that change shapes.

#include <algorithm>
#include <numeric>

#include "case.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::golden {
namespace {

using Sizes = std::vector<std::int64_t>;

Shape to_shape(const Sizes& sizes) { return Shape(std::span(sizes.data(), sizes.size())); }

/// Axes in [0, rank), ascending.
std::vector<int> ascending_axes(const std::string& op, const Sizes& axes, int rank) {
  std::vector<int> out;
  for (const int axis : to_axes(axes)) out.push_back(detail::normalize_axis(op, axis, rank));
  std::sort(out.begin(), out.end());
  return out;
}

/// Sizes and paddings that can be added and multiplied by a size without overflow.
Sizes moderate(const Case& c, const Sizes& sizes) {
  for (const std::int64_t size : sizes)
    LADON_CHECK(size >= INT32_MIN && size <= INT32_MAX, c.op(), "size ", size, " is out of range");
  return sizes;
}

Tensors reshape_case(const Case& c) {
  const Tensor& x = c.in(0);
  const auto sizes = c.integers("shape", 1);
  LADON_CHECK(sizes.has_value(), "Reshape", "there is no shape");
  Sizes to = *sizes;
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i] == 0 && !c.flag("allowzero", false)) to[i] = x.size(static_cast<int>(i));
  return {reshape(x, to_shape(to))};
}

Tensors flatten_case(const Case& c) {
  const Tensor& x = c.in(0);
  const int axis = c.integer("axis", 1) == x.rank() ? x.rank() : c.axis("axis", 1, x.rank());
  const Shape lead = x.shape().sub(0, axis), rest = x.shape().sub(axis, x.rank());
  return {reshape(x, {lead.count(), rest.count()})};
}

Tensors transpose_case(const Case& c) {
  std::vector<int> order = to_axes(c.integers("perm"));
  if (!c.has("perm"))
    for (int i = c.in(0).rank(); i > 0;) order.push_back(--i);
  return {permute(c.in(0), order)};
}

Tensors squeeze_case(const Case& c) {
  Tensor y = c.in(0);
  const auto given = c.integers("axes", 1);
  std::vector<int> axes;
  if (given)
    axes = ascending_axes("Squeeze", *given, y.rank());
  else
    for (int i = 0; i < y.rank(); ++i)
      if (y.size(i) == 1) axes.push_back(i);
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) y = squeeze(y, *axis);
  return {y};
}

Tensors unsqueeze_case(const Case& c) {
  Tensor y = c.in(0);
  const Sizes given = c.integers("axes", 1).value_or(Sizes{});
  const int rank = y.rank() + static_cast<int>(given.size());
  for (const int axis : ascending_axes("Unsqueeze", given, rank)) y = unsqueeze(y, axis);
  return {y};
}

Tensors expand_case(const Case& c) {
  const Shape wanted = to_shape(c.integers_of(1));
  return {expand(c.in(0), broadcast_shapes("Expand", c.in(0).shape(), wanted))};
}

Tensors concat_case(const Case& c) {
  Tensors parts;
  for (std::size_t i = 0; i < c.inputs(); ++i) parts.push_back(c.in(i));
  return {concat(parts, c.axis("axis", 1, c.in(0).rank()))};
}

Tensors split_case(const Case& c) {
  const int axis = c.axis("axis", 0, c.in(0).rank());
  if (const auto sizes = c.integers("split", 1)) return split(c.in(0), *sizes, axis);
  const std::int64_t n = c.in(0).size(axis), parts = static_cast<std::int64_t>(c.outputs());
  return split(c.in(0), std::max<std::int64_t>(1, (n + parts - 1) / parts), axis);
}

Tensors slice_case(const Case& c) {
  Tensor y = c.in(0);
  const Sizes starts = c.integers("starts", 1).value_or(Sizes{});
  const Sizes ends = c.integers("ends", 2).value_or(Sizes{});
  const auto steps = c.integers("steps", 4);
  std::vector<int> axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = c.integers("axes", 3)) axes = to_axes(*given);
  LADON_CHECK(starts.size() == ends.size() && axes.size() == starts.size() &&
                  (!steps || steps->size() == starts.size()),
              "Slice", "starts, ends, axes and steps have different lengths");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t step = steps ? (*steps)[i] : 1;
    y = slice(y, axes[i], {.start = starts[i], .stop = ends[i], .step = step});
  }
  return {y};
}

Tensors tile_case(const Case& c) {
  Sizes counts = c.integers_of(1);
  if (c.opset() < 6 && c.has(2)) {  // one axis and its count
    counts.assign(static_cast<std::size_t>(c.in(0).rank()), 1);
    counts.at(c.in(2).item<std::size_t>()) = c.in(1).item<std::int64_t>();
  }
  moderate(c, counts);
  if (counts.size() == static_cast<std::size_t>(c.in(0).rank())) {
    Shape shape = c.in(0).shape();
    for (int i = 0; i < shape.rank(); ++i) shape[i] *= counts[i];
    c.expect_shape(shape);
  }
  return {tile(c.in(0), counts)};
}

// --- padding ---

/// Source of element `at` of a padded axis of n; `at` may lie on either side of [0, n).
std::int64_t padded_from(const std::string& mode, std::int64_t at, std::int64_t n) {
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, n - 1);
  if (mode == "wrap") return (at % n + n) % n;
  if (n == 1) return 0;
  const std::int64_t period = 2 * (n - 1), m = (at % period + period) % period;
  return m < n ? m : period - m;
}

/// x with `low` and `high` elements around an axis, copied from inside it.
Tensor pad_from_inside(const Tensor& x, int axis, std::int64_t low, std::int64_t high,
                       const std::string& mode) {
  const std::int64_t n = x.size(axis);
  LADON_CHECK(n > 0, "Pad", "axis ", axis, " of shape ", x.shape(), " has nothing to copy");
  std::vector<std::int64_t> from;
  for (std::int64_t at = -low; at < n + high; ++at) from.push_back(padded_from(mode, at, n));
  return index_select(x, axis, from_vector(from, {static_cast<std::int64_t>(from.size())}));
}

Tensors pad_case(const Case& c) {
  const Tensor& x = c.in(0);
  auto pads = c.integers("pads", 1);
  if (c.has("paddings")) pads = c.integers("paddings");
  std::vector<int> axes = to_axes(c.integers("axes", 3).value_or(Sizes{}));
  if (axes.empty())
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  LADON_CHECK(pads && pads->size() == 2 * axes.size(), "Pad", "the counts do not match the axes");
  const auto rank = static_cast<std::size_t>(x.rank());
  moderate(c, *pads);
  Sizes before(rank), after(rank);
  Shape shape = x.shape();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = detail::normalize_axis("Pad", axes[i], x.rank());
    before[axis] = (*pads)[i];
    after[axis] = (*pads)[i + axes.size()];
    shape[axis] = x.size(axis) + before[axis] + after[axis];
  }
  c.expect_shape(shape);
  const std::string mode = c.text("mode", "constant");
  if (mode == "constant")
    return {pad(x, before, after, c.has(2) ? c.in(2).item() : c.number("value", 0))};
  LADON_CHECK(mode == "reflect" || mode == "edge" || mode == "wrap", "Pad", "unknown mode ", mode);
  Tensor y = x;
  for (int i = 0; i < x.rank(); ++i)
    if (before[i] != 0 || after[i] != 0) y = pad_from_inside(y, i, before[i], after[i], mode);
  return {y};
}

// --- blocks and sequences ---

std::int64_t block_size(const Case& c) {
  const std::int64_t s = c.integer("blocksize", 1);
  LADON_CHECK(s > 0 && s <= INT16_MAX, c.op(), "blocks of size ", s);
  return s;
}

// [b, c·s², h, w] ↔ [b, c, h·s, w·s]; DCR has the block's axes before the channel's, CRD after it.
Tensors depth_to_space(const Case& c) {
  const Tensor& x = c.in(0);
  const std::int64_t s = block_size(c), b = x.size(0), h = x.size(2), w = x.size(3);
  const std::int64_t channels = x.size(1) / (s * s);
  const Shape to{b, channels, h * s, w * s};
  if (c.text("mode", "DCR") == "DCR")
    return {reshape(permute(reshape(x, {b, s, s, channels, h, w}), {0, 3, 4, 1, 5, 2}), to)};
  return {reshape(permute(reshape(x, {b, channels, s, s, h, w}), {0, 1, 4, 2, 5, 3}), to)};
}

Tensors space_to_depth(const Case& c) {
  const Tensor& x = c.in(0);
  const std::int64_t s = block_size(c), b = x.size(0), channels = x.size(1);
  const std::int64_t h = x.size(2) / s, w = x.size(3) / s;
  const Tensor blocks = reshape(x, {b, channels, h, s, w, s});
  return {reshape(permute(blocks, {0, 3, 5, 1, 2, 4}), {b, channels * s * s, h, w})};
}

/// Each batch entry with its first `length` steps reversed.
Tensors reverse_sequence(const Case& c) {
  const int batch = c.axis("batch_axis", 1, c.in(0).rank());
  const int time = c.axis("time_axis", 0, c.in(0).rank());
  const Sizes lengths = c.integers_of(1);
  Tensors entries;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const Tensor x = slice(c.in(0), batch, {.start = at, .stop = at + 1});
    const Tensor first = slice(x, time, {.stop = lengths[i]});
    entries.push_back(concat({flip(first, {time}), slice(x, time, {.start = lengths[i]})}, time));
  }
  return {concat(entries, batch)};
}

/// Each axis cropped or padded evenly to its new size; an odd element more goes at the end.
Tensors center_crop_pad(const Case& c) {
  const Tensor& x = c.in(0);
  const Sizes wanted = moderate(c, c.integers_of(1));
  std::vector<int> axes(wanted.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (c.has("axes")) axes = to_axes(c.integers("axes"));
  LADON_CHECK(axes.size() == wanted.size(), c.op(), wanted.size(), " sizes for ", axes.size(),
              " axes");
  Shape shape = x.shape();
  Sizes before(static_cast<std::size_t>(x.rank())), after = before;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const int a = detail::normalize_axis("CenterCropPad", axes[i], x.rank());
    const std::int64_t more = wanted[i] - x.size(a);
    before[a] = more < 0 ? -(-more / 2) : more / 2;
    after[a] = more - before[a];
    shape[a] = wanted[i];
  }
  c.expect_shape(shape);
  return {pad(x, before, after)};
}

Tensors trilu(const Case& c) {
  const std::int64_t k = c.has(1) ? c.in(1).item<std::int64_t>() : 0;
  return {c.flag("upper", true) ? triu(c.in(0), k) : tril(c.in(0), k)};
}

}  // namespace

void add_shapes(Table& t) {
  t["Identity"] = [](const Case& c) -> Tensors { return {c.in(0)}; };
  t["Reshape"] = reshape_case;
  t["Flatten"] = flatten_case;
  t["Transpose"] = transpose_case;
  t["Squeeze"] = squeeze_case;
  t["Unsqueeze"] = unsqueeze_case;
  t["Expand"] = expand_case;
  t["Concat"] = concat_case;
  t["Split"] = split_case;
  t["Slice"] = slice_case;
  t["Tile"] = tile_case;
  t["Pad"] = pad_case;
  t["Trilu"] = trilu;
  t["DepthToSpace"] = depth_to_space;
  t["SpaceToDepth"] = space_to_depth;
  t["ReverseSequence"] = reverse_sequence;
  t["CenterCropPad"] = center_crop_pad;
}

}  // namespace ladon::golden
