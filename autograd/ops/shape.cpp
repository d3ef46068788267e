#include "ladon/autograd/ops/shape.h"

#include <algorithm>
#include <numeric>

#include "ladon/autograd/operands.h"
#include "ladon/core/kernels/index.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon {
namespace {

/// `shape` with a size of −1, if there is one, replaced by the size that gives x's number of
/// elements.
Shape resolve(const Tensor& x, const Shape& shape) {
  Shape to = shape;
  int inferred = -1;
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] != -1) continue;
    LADON_CHECK(inferred < 0, "reshape", "more than one size is −1 in ", shape,
                "; only one size can be inferred");
    inferred = i;
    to[i] = 1;
  }
  const std::int64_t known = detail::checked_count("reshape", to);
  if (inferred >= 0) {
    LADON_CHECK(known != 0, "reshape", "the −1 in ", shape,
                " cannot be inferred if another size is 0; write the size");
    LADON_CHECK(x.count() % known == 0, "reshape", "shape ", x.shape(), " holds ", x.count(),
                " elements and cannot become ", shape, ": the number is not a multiple of ", known);
    to[inferred] = x.count() / known;
  }
  LADON_CHECK(to.count() == x.count(), "reshape", "shape ", x.shape(), " holds ", x.count(),
              " elements and cannot become ", shape, ", which holds ", to.count());
  return to;
}

/// Zeros of `shape` with x written into their view window(zeros): the adjoint of window(), which
/// must return a view in which no element occurs twice.
template <class Window>
Tensor place(const Tensor& x, const Shape& shape, Window window) {
  Tensor y = mapped::room(zeros(shape, x.dtype()), {&x});
  kernels::copy(window(y), x);
  return record("place", y, {x}, [window](const Tensor& g) { return window(g); });
}

/// Records y as the view window(x), in which no element occurs twice.
template <class Window>
Tensor record_window(const char* operation, const Tensor& y, const Tensor& x, Window window) {
  return record_joint(operation, y, {x},
                      [window, shape = x.shape()](const Tensor& g, detail::GradientSink& sink) {
                        if (sink.needs(0) && !sink.give_part(0, g, window))
                          sink.give(0, place(g, shape, window));
                      });
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  check_defined("reshape", {x});
  const Shape to = resolve(x, shape);
  Tensor y = view::try_reshape(x, to);
  if (!y.defined()) y = view::try_reshape(kernels::contiguous(x), to);
  return record("reshape", y, {x},
                [from = x.shape()](const Tensor& g) { return reshape(g, from); });
}

Tensor flatten(const Tensor& x, int first, int last) {
  check_defined("flatten", {x});
  if (x.rank() == 0) return reshape(x, {1});
  first = detail::normalize_axis("flatten", first, x.rank());
  last = detail::normalize_axis("flatten", last, x.rank());
  LADON_CHECK(first <= last, "flatten", "the first axis to merge, axis ", first,
              ", must not come after the last, but comes after axis ", last);
  Shape to = x.shape().sub(0, first);
  to.append(x.shape().sub(first, last + 1).count());
  for (int i = last + 1; i < x.rank(); ++i) to.append(x.shape()[i]);
  return reshape(x, to);
}

Tensor permute(const Tensor& x, const std::vector<int>& order) {
  check_defined("permute", {x});
  LADON_CHECK(static_cast<int>(order.size()) == x.rank(), "permute",
              "the order must list each axis once, but the order lists ", order.size(),
              " axes for a tensor of shape ", x.shape());
  std::vector<int> to(order.size()), inverse(order.size(), -1);
  for (int i = 0; i < x.rank(); ++i) {
    to[i] = detail::normalize_axis("permute", order[i], x.rank());
    LADON_CHECK(inverse[to[i]] < 0, "permute", "axis ", to[i],
                " is listed twice; each axis must be listed once");
    inverse[to[i]] = i;
  }
  return record("permute", view::permute(x, to), {x},
                [inverse](const Tensor& g) { return permute(g, inverse); });
}

Tensor transpose(const Tensor& x, int a, int b) {
  check_defined("transpose", {x});
  a = detail::normalize_axis("transpose", a, x.rank());
  b = detail::normalize_axis("transpose", b, x.rank());
  return record("transpose", view::transpose(x, a, b), {x},
                [a, b](const Tensor& g) { return transpose(g, a, b); });
}

Tensor expand(const Tensor& x, const Shape& shape) {
  check_defined("expand", {x});
  const int lead = shape.rank() - x.rank();
  LADON_CHECK(lead >= 0, "expand", "shape ", x.shape(), " has more axes than the requested shape ",
              shape, "; expand adds axes in front, and removes none");
  Shape to = shape;
  for (int i = 0; i < to.rank(); ++i) {
    const std::int64_t size = i < lead ? 1 : x.shape()[i - lead];
    if (to[i] == -1 && i >= lead) to[i] = size;
    LADON_CHECK(to[i] >= 0 && (size == to[i] || size == 1), "expand", "shape ", x.shape(),
                " does not expand to ", shape, ": only axes of size 1 can be expanded");
  }
  detail::checked_count("expand", to);
  return record("expand", view::expand(x, to), {x},
                [](const Tensor& g) { return g; });  // the backward pass sums it to x's shape
}

Tensor unsqueeze(const Tensor& x, int axis) {
  check_defined("unsqueeze", {x});
  axis = detail::normalize_axis("unsqueeze", axis, x.rank() + 1);
  return record("unsqueeze", view::unsqueeze(x, axis), {x},
                [axis](const Tensor& g) { return squeeze(g, axis); });
}

Tensor squeeze(const Tensor& x, int axis) {
  check_defined("squeeze", {x});
  axis = detail::normalize_axis("squeeze", axis, x.rank());
  LADON_CHECK(x.shape()[axis] == 1, "squeeze", "axis ", axis, " of shape ", x.shape(), " has size ",
              x.shape()[axis], ", not 1; only axes of size 1 can be removed");
  return record("squeeze", view::squeeze(x, axis), {x},
                [axis](const Tensor& g) { return unsqueeze(g, axis); });
}

// --- slices ---

Tensor slice(const Tensor& x, int axis, Slice range) {
  check_defined("slice", {x});
  axis = detail::normalize_axis("slice", axis, x.rank());
  const std::int64_t n = x.shape()[axis], step = range.step;
  LADON_CHECK(step != 0, "slice", "the step along axis ", axis,
              " is 0; it must be positive or negative");
  // start and stop are clipped to [0, n] for a positive step, to [−1, n − 1] for a negative step.
  const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? n : n - 1;
  const auto bound = [&](std::int64_t at) {
    return std::clamp(at < 0 ? at + n : at, lowest, highest);
  };
  const std::int64_t start = range.start ? bound(*range.start) : step > 0 ? lowest : highest;
  const std::int64_t stop = range.stop ? bound(*range.stop) : step > 0 ? highest : lowest;
  const std::int64_t distance = step > 0 ? stop - start : start - stop;
  // The slice has (distance − 1)/|step| + 1 elements; −(step + 1) is |step| − 1 without overflow.
  const std::uint64_t stride = step > 0 ? step : static_cast<std::uint64_t>(-(step + 1)) + 1;
  const std::int64_t length =
      distance > 0 ? static_cast<std::int64_t>((distance - 1) / stride) + 1 : 0;
  const std::int64_t jump = length > 1 ? step : 1;
  return record_window("slice", view::slice(x, axis, start, length, jump), x,
                       [axis, range](const Tensor& y) { return slice(y, axis, range); });
}

namespace {

/// Returns an index of an axis, which may be negative to count from the end, as an index in [0, n).
/// Throws Error if it is out of range.
std::int64_t position(const char* operation, const Shape& shape, int axis, std::int64_t index) {
  const std::int64_t n = shape[axis];
  LADON_CHECK(index >= -n && index < n, operation, "index ", index, " is out of range for axis ",
              axis, " of shape ", shape);
  return index < 0 ? index + n : index;
}

}  // namespace

Tensor select(const Tensor& x, int axis, std::int64_t index) {
  check_defined("select", {x});
  axis = detail::normalize_axis("select", axis, x.rank());
  index = position("select", x.shape(), axis, index);
  return record_window("select", view::select(x, axis, index), x,
                       [axis, index](const Tensor& y) { return select(y, axis, index); });
}

Tensor at(const Tensor& x, const std::vector<AxisIndex>& indices) {
  check_defined("at", {x});
  const auto ellipses = std::count_if(indices.begin(), indices.end(), [](const AxisIndex& index) {
    return std::holds_alternative<Ellipsis>(index.entry);
  });
  const int rest = x.rank() - static_cast<int>(indices.size() - ellipses);
  LADON_CHECK(ellipses <= 1, "at", "more than one ellipsis; use at most one");
  LADON_CHECK(rest >= 0, "at", indices.size() - ellipses,
              " indices are more than the number of axes of a tensor of shape ", x.shape());
  Tensor y = x;
  int axis = 0, of_x = 0;
  for (const AxisIndex& index : indices) {
    if (const auto* i = std::get_if<std::int64_t>(&index.entry)) {
      y = select(y, axis, position("at", x.shape(), of_x++, *i));
    } else if (const auto* range = std::get_if<Slice>(&index.entry)) {
      y = slice(y, axis++, *range);
      ++of_x;
    } else {
      axis += rest;
      of_x += rest;
    }
  }
  return y;
}

Tensor diagonal(const Tensor& x, std::int64_t offset, int axis1, int axis2) {
  check_defined("diagonal", {x});
  axis1 = detail::normalize_axis("diagonal", axis1, x.rank());
  axis2 = detail::normalize_axis("diagonal", axis2, x.rank());
  LADON_CHECK(axis1 != axis2, "diagonal", "needs two different axes, but both axes are ", axis1);
  offset = std::clamp(offset, -x.shape()[axis1], x.shape()[axis2]);
  return record_window(
      "diagonal", view::diagonal(x, offset, axis1, axis2), x,
      [offset, axis1, axis2](const Tensor& y) { return diagonal(y, offset, axis1, axis2); });
}

Tensor flip(const Tensor& x, const std::vector<int>& axes) {
  check_defined("flip", {x});
  std::vector<bool> seen(x.rank());
  Tensor y = x.detach();
  for (int axis : axes) {
    axis = detail::normalize_axis("flip", axis, x.rank());
    LADON_CHECK(!seen[axis], "flip", "axis ", axis,
                " is listed twice; list each axis at most once");
    seen[axis] = true;
    y = view::slice(y, axis, y.shape()[axis] - 1, y.shape()[axis], -1);
  }
  return record("flip", y, {x}, [axes](const Tensor& g) { return flip(g, axes); });
}

// --- joining and splitting ---

Tensor concat(const std::vector<Tensor>& parts, int axis) {
  LADON_CHECK(!parts.empty(), "concat", "needs at least one tensor");
  for (const Tensor& part : parts) check_defined("concat", {part});
  Shape shape = parts[0].shape();
  DType dtype = parts[0].dtype();
  axis = detail::normalize_axis("concat", axis, shape.rank());
  shape[axis] = 0;
  for (const Tensor& part : parts) {
    bool fits = part.rank() == shape.rank();
    for (int i = 0; fits && i < shape.rank(); ++i) fits = i == axis || part.shape()[i] == shape[i];
    LADON_CHECK(fits, "concat", "the tensors may differ only in the joined axis, but shapes ",
                parts[0].shape(), " and ", part.shape(), " differ on an axis other than ", axis);
    shape[axis] = detail::checked_sum("concat", shape[axis], part.shape()[axis]);
    dtype = promote(dtype, part.dtype());
  }
  Tensor y = empty(shape, dtype);
  for (const Tensor& part : parts) y = mapped::room(y, {&part});
  kernels::join(parts, axis, y);
  std::vector<Slice> ranges;
  std::int64_t start = 0;
  for (const Tensor& part : parts) {
    const std::int64_t size = part.shape()[axis];
    ranges.push_back({.start = start, .stop = start + size});
    start += size;
  }
  return record_joint("concat", y, parts,
                      [axis, ranges](const Tensor& g, detail::GradientSink& sink) {
                        for (std::size_t i = 0; i < ranges.size(); ++i)
                          if (sink.needs(i)) sink.give(i, slice(g, axis, ranges[i]));
                      });
}

Tensor stack(const std::vector<Tensor>& parts, int axis) {
  LADON_CHECK(!parts.empty(), "stack", "needs at least one tensor");
  std::vector<Tensor> rows;
  for (const Tensor& part : parts) {
    LADON_CHECK(part.shape() == parts[0].shape(), "stack", "shapes ", parts[0].shape(), " and ",
                part.shape(), " differ; all tensors must have the same shape");
    rows.push_back(unsqueeze(part, axis));
  }
  return concat(rows, axis);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis) {
  check_defined("split", {x});
  axis = detail::normalize_axis("split", axis, x.rank());
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    LADON_CHECK(size >= 0 && size <= x.shape()[axis], "split", "a part of size ", size,
                " does not fit on axis ", axis, " of shape ", x.shape(), "; it must be from 0 to ",
                x.shape()[axis]);
    total = detail::checked_sum("split", total, size);
  }
  LADON_CHECK(total == x.shape()[axis], "split", "the sizes sum to ", total, ", but axis ", axis,
              " of shape ", x.shape(), " has size ", x.shape()[axis]);
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    parts.push_back(slice(x, axis, {.start = start, .stop = start + size}));
    start += size;
  }
  return parts;
}

std::vector<Tensor> split(const Tensor& x, std::int64_t size, int axis) {
  check_defined("split", {x});
  LADON_CHECK(size >= 1, "split", "the size of the parts must be at least 1, got ", size);
  constexpr std::int64_t most = 1 << 20;
  LADON_CHECK(x.size(axis) / size < most, "split", "axis ", axis, " of shape ", x.shape(),
              " in parts of size ", size, " makes more than ", most,
              " tensors; call slice for the parts that you need");
  std::vector<std::int64_t> sizes;
  for (std::int64_t left = x.size(axis); left > 0; left -= size)
    sizes.push_back(std::min(size, left));
  return split(x, sizes, axis);
}

Tensor roll(const Tensor& x, std::int64_t shift, int axis) {
  check_defined("roll", {x});
  axis = detail::normalize_axis("roll", axis, x.rank());
  const std::int64_t n = x.shape()[axis];
  if (n == 0) return x;
  const std::int64_t first = n - ((shift % n) + n) % n;  // index of the element that moves to 0
  return concat({slice(x, axis, {.start = first}), slice(x, axis, {.stop = first})}, axis);
}

// For each axis i of size n, with `outer` the product of the sizes before it and `inner` of those
// after it: [outer, n·inner] → [outer, 1, n·inner] → [outer, count, n·inner].
Tensor tile(const Tensor& x, const std::vector<std::int64_t>& counts) {
  check_defined("tile", {x});
  Shape shape = x.shape();
  while (shape.rank() < static_cast<int>(counts.size())) shape.insert(0, 1);
  const int lead = shape.rank() - static_cast<int>(counts.size());
  Tensor y = reshape(x, shape);
  for (int i = shape.rank() - 1; i >= lead; --i) {
    const std::int64_t count = counts[i - lead];
    if (count == 1) continue;
    const std::int64_t outer = shape.sub(0, i).count();
    const std::int64_t block = shape.sub(i, shape.rank()).count();
    detail::checked_count("tile", {outer, count, block});
    shape[i] = detail::checked_product("tile", shape[i], count);
    y = reshape(expand(reshape(y, {outer, 1, block}), {outer, count, block}), shape);
  }
  return y;
}

Tensor pad(const Tensor& x, const std::vector<std::int64_t>& before,
           const std::vector<std::int64_t>& after, double value) {
  check_defined("pad", {x});
  const auto rank = static_cast<std::size_t>(x.rank());
  LADON_CHECK(before.size() == rank && after.size() == rank, "pad",
              "needs one count per axis, got ", before.size(), " before and ", after.size(),
              " after for a tensor of shape ", x.shape());
  Shape shape = x.shape();
  Tensor inside = x.detach();
  std::vector<std::int64_t> uncrop_before, uncrop_after;
  for (int i = 0; i < x.rank(); ++i) {
    const std::int64_t n = shape[i], low = before[i], high = after[i];
    LADON_CHECK(low >= -n && high >= -n, "pad", "counts ", low, " and ", high,
                " crop more elements than axis ", i, " has, of shape ", x.shape());
    shape[i] = detail::checked_sum("pad", detail::checked_sum("pad", n, low), high);
    LADON_CHECK(shape[i] >= 0, "pad", "counts ", low, " and ", high, " around axis ", i,
                " of shape ", x.shape(), " give the negative size ", shape[i], "; crop less");
    const std::int64_t from = std::max<std::int64_t>(0, -low);
    const std::int64_t to = n + std::min<std::int64_t>(0, high);
    inside = view::slice(inside, i, from, std::max<std::int64_t>(0, to - from), 1);
    uncrop_before.push_back(-low);
    uncrop_after.push_back(-high);
  }
  const Tensor y = mapped::room(full(shape, value, x.dtype()), {&x});
  Tensor middle = y;
  for (int i = 0; i < x.rank(); ++i)
    middle = view::slice(middle, i, std::max<std::int64_t>(0, before[i]), inside.shape()[i], 1);
  kernels::copy(middle, inside);
  return record("pad", y, {x}, [uncrop_before, uncrop_after](const Tensor& g) {
    return pad(g, uncrop_before, uncrop_after);
  });
}

// --- copies ---

Tensor contiguous(const Tensor& x) {
  check_defined("contiguous", {x});
  if (x.contiguous()) return x;
  return record("contiguous", kernels::contiguous(x), {x}, [](const Tensor& g) { return g; });
}

Tensor clone(const Tensor& x) {
  check_defined("clone", {x});
  return record("clone", kernels::clone(x), {x}, [](const Tensor& g) { return g; });
}

}  // namespace ladon
