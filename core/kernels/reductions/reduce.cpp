#include "ladon/core/kernels/reductions/reduce.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/kernels/rows.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

constexpr const char* reduce_names[] = {"sum", "prod", "max",         "min",
                                        "any", "all",  "sum_squares", "sum_abs"};
static_assert(std::size(reduce_names) == std::size_t(Reduce::count));

/// Some axes of a tensor, merged where they are evenly spaced in memory; axes of size 1 are left
/// out.
struct Axes {
  Shape sizes, strides;

  void append(std::int64_t size, std::int64_t stride) {
    const int last = sizes.rank() - 1;
    if (size == 1) return;
    if (last >= 0 && strides[last] == stride * size) {
      sizes[last] *= size;
      strides[last] = stride;
    } else {
      sizes.append(size);
      strides.append(stride);
    }
  }
  int rank() const { return sizes.rank(); }
  std::int64_t count() const { return sizes.count(); }
  /// Offset of element `index`, counted in row-major order.
  std::int64_t offset(std::int64_t index) const {
    std::int64_t offset = 0;
    for (int axis = rank() - 1; axis > 0; --axis) {
      offset += index % sizes[axis] * strides[axis];
      index /= sizes[axis];
    }
    return rank() > 0 ? offset + index * strides[0] : 0;
  }
  Axes without_last() const { return {sizes.sub(0, rank() - 1), strides.sub(0, rank() - 1)}; }
};

/// The reduction that combines partial results of `op`.
Reduce merging(Reduce op) {
  return op == Reduce::sum_squares || op == Reduce::sum_abs ? Reduce::sum : op;
}

template <class T>
T neutral(Reduce op) {
  using Limits = std::numeric_limits<T>;
  constexpr bool floating = std::is_floating_point_v<T>;
  switch (op) {
    case Reduce::prod:
    case Reduce::all:
      return T(1);
    case Reduce::max:
      return floating ? -Limits::infinity() : Limits::lowest();
    case Reduce::min:
      return floating ? Limits::infinity() : Limits::max();
    default:
      return T(0);
  }
}

/// y[i] = the reduction of n contiguous elements at x + kept.offset(i). Long rows are cut into
/// segments of a fixed length.
template <class T>
void reduce_rows(Reduce op, const T* x, const Axes& kept, std::int64_t n, T* y) {
  constexpr std::int64_t segment = 2 * task_length;
  const std::int64_t rows = kept.count(), segments = (n + segment - 1) / segment;
  const auto loop = loops().of<T>().reduce[int(op)];
  if (segments == 1)
    return for_rows(rows, n, [&](std::int64_t r) { y[r] = loop(x + kept.offset(r), n); });
  Tensor partial = empty({rows, segments}, dtype_of<T>());
  T* const parts = partial.mutable_data<T>();
  for_rows(rows * segments, segment, [&](std::int64_t i) {
    const std::int64_t begin = i % segments * segment;
    parts[i] = loop(x + kept.offset(i / segments) + begin, std::min(segment, n - begin));
  });
  const auto merge = loops().of<T>().reduce[int(merging(op))];
  for (std::int64_t r = 0; r < rows; ++r) y[r] = merge(parts + r * segments, segments);
}

/// y[o, c] = the reduction over r < n of the elements x[outer.offset(o) + r·stride + c]; the rows r
/// are cut into segments, the columns c into blocks.
template <class T>
void reduce_columns(Reduce op, const T* x, const Axes& outer, std::int64_t n, std::int64_t stride,
                    std::int64_t columns, T* y) {
  constexpr std::int64_t block = 512;
  const std::int64_t width = std::min(block, columns);
  const std::int64_t segment = std::max<std::int64_t>(32, 2 * task_length / width);
  const std::int64_t segments = (n + segment - 1) / segment;
  const std::int64_t blocks = (columns + block - 1) / block;
  const auto loop = loops().of<T>().reduce_columns[int(op)];
  Tensor partial;
  T* parts = y;
  if (segments > 1) {
    partial = empty({outer.count(), segments, columns}, dtype_of<T>());
    parts = partial.mutable_data<T>();
  }
  for_rows(outer.count() * segments * blocks, std::min(n, segment) * width, [&](std::int64_t i) {
    const std::int64_t c = i % blocks * block, part = i / blocks;
    const std::int64_t r = part % segments * segment;
    const T* from = x + outer.offset(part / segments) + r * stride + c;
    loop(from, std::min(segment, n - r), stride, std::min(block, columns - c),
         parts + part * columns + c);
  });
  if (segments == 1) return;
  const auto merge = loops().of<T>().reduce_columns[int(merging(op))];
  for_rows(outer.count(), segments * columns, [&](std::int64_t o) {
    merge(parts + o * segments * columns, segments, columns, columns, y + o * columns);
  });
}

/// Reduces over one run of evenly spaced elements for each kept index; y is row-major.
template <class T>
void reduce_run(Reduce op, const T* x, const Axes& kept, std::int64_t n, std::int64_t stride,
                T* y) {
  const int last = kept.rank() - 1;
  if (stride == 1 || n == 1) return reduce_rows(op, x, kept, n, y);
  if (last >= 0 && kept.strides[last] == 1)
    return reduce_columns(op, x, kept.without_last(), n, stride, kept.sizes[last], y);
  // Neither the reduced axes nor the kept axes are contiguous, so elements are first gathered in
  // rows.
  const auto loop = loops().of<T>().reduce[int(op)];
  parallel::for_range(kept.count(), rows_per_task(n), [&](std::int64_t begin, std::int64_t end) {
    Tensor buffer = empty({n}, dtype_of<T>());
    T* const row = buffer.mutable_data<T>();
    for (std::int64_t i = begin; i < end; ++i) {
      const T* from = x + kept.offset(i);
      for (std::int64_t j = 0; j < n; ++j) row[j] = from[j * stride];
      y[i] = loop(row, n);
    }
  });
}

Shape reduced_shape(const Shape& shape, std::span<const int> axes, bool keep) {
  Shape out = shape;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (keep)
      out[*axis] = 1;
    else
      out.erase(*axis);
  }
  return out;
}

Axes merged(const Tensor& x, std::span<const int> axes) {
  Axes run;
  for (int axis : axes) run.append(x.shape()[axis], x.strides()[axis]);
  return run;
}

Axes merged_others(const Tensor& x, std::span<const int> axes) {
  Axes others;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (!std::binary_search(axes.begin(), axes.end(), axis))
      others.append(x.shape()[axis], x.strides()[axis]);
  return others;
}

/// The result of reducing a tensor without elements: each of its elements is the neutral element.
Tensor reduce_nothing(Reduce op, const Shape& shape, DType dtype) {
  LADON_CHECK(is_floating(dtype) || dtype == boolean || shape.count() == 0 ||
                  (op != Reduce::max && op != Reduce::min),
              to_string(op), "needs at least one element: the ", to_string(op), " of an empty ",
              dtype, " tensor is undefined");
  return visit_dtype(
      dtype, [&]<class T>() { return full(shape, static_cast<double>(neutral<T>(op)), dtype); });
}

/// Axes of x in order of decreasing stride; those that repeat an element (stride 0) come first.
std::vector<int> memory_order(const Tensor& x) {
  std::vector<int> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  const auto step = [&](int axis) {
    const std::int64_t stride = std::abs(x.strides()[axis]);
    return stride == 0 ? std::numeric_limits<std::int64_t>::max() : stride;
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return step(a) > step(b); });
  return order;
}

/// Reduces x in the dtype of x, for which the reduction must be defined.
Tensor reduce_elements(Reduce op, const Tensor& x, std::span<const int> axes, bool keep) {
  const Shape shape = reduced_shape(x.shape(), axes, keep);
  if (x.count() == 0) return reduce_nothing(op, shape, x.dtype());
  // Reduces the trailing axes that merge into one run first, and then all other axes.
  std::size_t rest = axes.size();
  while (rest > 0 && merged(x, axes.subspan(rest - 1)).rank() <= 1) --rest;
  const Axes run = merged(x, axes.subspan(rest)), kept = merged_others(x, axes.subspan(rest));
  const std::int64_t stride = run.rank() > 0 ? run.strides[0] : 1;
  const bool scattered = stride != 1 && (kept.rank() == 0 || kept.strides[kept.rank() - 1] != 1);
  const std::vector<int> order = scattered ? memory_order(x) : std::vector<int>();
  if (!std::is_sorted(order.begin(), order.end())) {
    std::vector<int> there, back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      back[order[i]] = static_cast<int>(i);
      if (std::binary_search(axes.begin(), axes.end(), order[i]))
        there.push_back(static_cast<int>(i));
    }
    const Tensor y = reduce_elements(op, view::permute(x, order), there, true);
    return view::try_reshape(contiguous(view::permute(y, back)), shape);
  }
  if (rest > 0)
    return reduce_elements(merging(op), reduce_elements(op, x, axes.subspan(rest), true), axes,
                           keep);
  Tensor y = empty(shape, x.dtype());
  visit_dtype(x.dtype(), [&]<class T>() {
    reduce_run(op, x.strided_data<T>(), kept, run.count(), stride, y.mutable_data<T>());
  });
  return y;
}

}  // namespace

const char* to_string(Reduce op) { return reduce_names[int(op)]; }

Tensor reduce(Reduce op, const Tensor& x, const std::vector<int>& axes, bool keep) {
  LADON_CHECK(x.defined(), to_string(op), "the tensor is undefined; assign it a value first");
  if (x.mapped())
    return mapped::batched([&](const Tensor& u) { return reduce(op, u, mapped::next(axes), keep); },
                           x);
  const bool logical = op == Reduce::any || op == Reduce::all;
  if (logical)
    return reduce_elements(op, x.dtype() == boolean ? x : compare(Compare::ne, x, 0), axes, keep);
  if (x.dtype() != boolean) return reduce_elements(op, x, axes, keep);
  if (op == Reduce::max) return reduce_elements(Reduce::any, x, axes, keep);
  if (op == Reduce::min) return reduce_elements(Reduce::all, x, axes, keep);
  return reduce_elements(op, cast(x, i64), axes, keep);
}

bool anywhere(const Tensor& x) {
  const Tensor all = mapped::show(x);
  std::vector<int> axes(all.rank());
  std::iota(axes.begin(), axes.end(), 0);
  return reduce(Reduce::any, all, axes, false).item<bool>();
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  LADON_CHECK(broadcast_shapes("sum_to", shape, x.shape()) == x.shape(), "sum_to", "shape ", shape,
              " does not broadcast to ", x.shape());
  const int lead = x.rank() - shape.rank();
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axis < lead || (shape[axis - lead] == 1 && x.shape()[axis] != 1)) axes.push_back(axis);
  return view::try_reshape(contiguous(reduce(Reduce::sum, x, axes, true)), shape);
}

}  // namespace ladon::kernels
