#pragma once
// Shape operations. Those marked (view) share storage with their input.

#include <climits>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <variant>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// The elements of x, in row-major order, in another shape; one size may be −1 (inferred). A view
/// if the strides allow it, else a copy.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Merges the axes from `first` to `last` (both included).
Tensor flatten(const Tensor& x, int first = 0, int last = -1);
/// (view) Axis i of the result is axis order[i] of x.
Tensor permute(const Tensor& x, const std::vector<int>& order);
/// (view) Swaps two axes; by default the last two.
Tensor transpose(const Tensor& x, int a = -2, int b = -1);
/// (view) Repeats axes of size 1 to the sizes in `shape`, where −1 keeps the size of x; adds
/// leading axes.
Tensor expand(const Tensor& x, const Shape& shape);
/// (view) Adds an axis of size 1, whose index in the result is `axis`.
Tensor unsqueeze(const Tensor& x, int axis);
/// (view) Drops an axis of size 1. Throws Error if its size is not 1.
Tensor squeeze(const Tensor& x, int axis);

/// A range of an axis, like start:stop:step in Python: negative bounds count from the end, bounds
/// beyond an end are clipped, and a negative step runs backwards. Throws Error if step is 0.
struct Slice {
  std::optional<std::int64_t> start = {};
  std::optional<std::int64_t> stop = {};
  std::int64_t step = 1;
};
/// (view) x restricted to a range of one axis.
Tensor slice(const Tensor& x, int axis, Slice range);
/// (view) The slice of x at one index of an axis; the result lacks that axis. Throws Error if the
/// index is out of range.
Tensor select(const Tensor& x, int axis, std::int64_t index);

/// Entry of at() that keeps a whole axis.
inline constexpr Slice all_of{};
/// Entry of at() that keeps all axes that the other entries do not use.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis{};
/// An entry of at(): an integer, a range {start, stop} or {start, stop, step}, a Slice, `all_of`,
/// or `ellipsis`.
struct AxisIndex {
  AxisIndex(std::int64_t position) : entry(position) {}  // NOLINT: implicit, for at(x, {1, -1})
  AxisIndex(Slice range) : entry(range) {}               // NOLINT
  AxisIndex(Ellipsis rest) : entry(rest) {}              // NOLINT
  AxisIndex(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
            std::int64_t step = 1)
      : entry(Slice{.start = start, .stop = stop, .step = step}) {}
  std::variant<std::int64_t, Slice, Ellipsis> entry;
};
/// (view) NumPy-style basic indexing, one entry per axis from the left: an integer selects an index
/// and drops the axis, a range slices it.
///   at(x, {0, {1, 3}, -1});  at(x, {ellipsis, 0});  at(x, {{1, 3}});  at(x, {Slice{.start = 1}})
Tensor at(const Tensor& x, const std::vector<AxisIndex>& indices);

/// Joins tensors along an existing axis; other sizes must agree.
Tensor concat(const std::vector<Tensor>& parts, int axis);
/// Joins tensors of one shape along a new axis.
Tensor stack(const std::vector<Tensor>& parts, int axis = 0);
/// (views) Splits an axis into parts of the given sizes, or of `size` each (the last may be
/// shorter).
std::vector<Tensor> split(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis = 0);
std::vector<Tensor> split(const Tensor& x, std::int64_t size, int axis = 0);
inline std::vector<Tensor> split(const Tensor& x, std::initializer_list<std::int64_t> sizes,
                                 int axis = 0) {  // makes {2} a list of one size
  return split(x, std::vector(sizes), axis);
}
/// (view) x with the order of elements along the axes reversed.
Tensor flip(const Tensor& x, const std::vector<int>& axes);
/// x with each element moved by `shift` along an axis; elements moved past the end continue at the
/// beginning.
Tensor roll(const Tensor& x, std::int64_t shift, int axis);
/// x repeated counts[i] times along axis i; leading axes of size 1 are added to x if `counts` has
/// more entries than x has axes.
Tensor tile(const Tensor& x, const std::vector<std::int64_t>& counts);
/// Adds `before[i]` and `after[i]` elements of `value` around axis i; negative counts crop.
Tensor pad(const Tensor& x, const std::vector<std::int64_t>& before,
           const std::vector<std::int64_t>& after, double value = 0);
/// Lower (upper) triangle of the last two axes: x with zeros above (below) the diagonal `offset`,
/// where offset 0 is the main diagonal and 1 the one above it.
Tensor tril(const Tensor& x, std::int64_t offset = 0);
Tensor triu(const Tensor& x, std::int64_t offset = 0);
/// (view) The diagonal `offset` of two axes (as in tril), as a new last axis.
Tensor diagonal(const Tensor& x, std::int64_t offset = 0, int axis1 = -2, int axis2 = -1);
/// Copy in row-major order; x itself if it is contiguous.
Tensor contiguous(const Tensor& x);
/// A copy with its own storage.
Tensor clone(const Tensor& x);

}  // namespace ladon
