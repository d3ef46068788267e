#include "ladon/autograd/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/kernels/reductions/moments.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/kernels/reductions/softmax.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/core/view.h"

namespace ladon {

std::vector<int> Axes::normalized(std::string_view operation, int rank) const {
  std::vector<int> axes(all_ ? rank : 0);
  std::iota(axes.begin(), axes.end(), 0);
  for (const int axis : axes_) axes.push_back(detail::normalize_axis(operation, axis, rank));
  std::sort(axes.begin(), axes.end());
  const auto twice = std::adjacent_find(axes.begin(), axes.end());
  if (twice != axes.end()) detail::fail(operation, "axis ", *twice, " is named twice");
  return axes;
}

namespace {

using kernels::Reduce;

/// The axes a reduction of x runs over, and what its rule needs to undo it.
struct Reduced {
  std::vector<int> axes;
  Shape from, kept;
  std::int64_t count = 1;  // elements that are reduced to one

  Reduced(const char* operation, const Tensor& x, const Axes& over) {
    check_defined(operation, {x});
    axes = over.normalized(operation, x.rank());
    from = kept = x.shape();
    for (const int axis : axes) {
      count *= from[axis];
      kept[axis] = 1;
    }
  }

  Tensor reduce(Reduce op, const Tensor& x, Dims dims) const {
    return kernels::reduce(op, x, axes, dims == Dims::keep);
  }
  /// The adjoint of summing: each gradient goes to all the elements that it came from.
  Tensor spread(const Tensor& g) const { return expand(reshape(g, kept), from); }
};

/// Reduces several axes by reducing one after the other, the last first.
template <class ReduceAxis>
Tensor one_by_one(const Reduced& reduced, const Tensor& x, Dims dims,
                  const ReduceAxis& reduce_axis) {
  Tensor y = x;
  for (auto axis = reduced.axes.rbegin(); axis != reduced.axes.rend(); ++axis)
    y = reduce_axis(y, *axis);
  return dims == Dims::keep ? reshape(y, reduced.kept) : y;
}

}  // namespace

// --- sums ---

Tensor sum(const Tensor& x, const Axes& axes, Dims dims) {
  const Reduced reduced("sum", x, axes);
  return record("sum", reduced.reduce(Reduce::sum, x, dims), {x},
                [reduced](const Tensor& g) { return reduced.spread(g); });
}

Tensor mean(const Tensor& x, const Axes& axes, Dims dims) {
  check_floating("mean", x);
  const Reduced reduced("mean", x, axes);
  const auto n = static_cast<double>(reduced.count);
  return record("mean", kernels::mean(x, reduced.axes, dims == Dims::keep), {x},
                [reduced, n](const Tensor& g) { return reduced.spread(g / n); });
}

namespace {

/// x − mean, from a rounded mean that takes no part in gradients.
Tensor centred(const Tensor& x, const std::vector<int>& axes) {
  const Tensor shifted = x - kernels::mean(x, axes, true);
  return shifted - mean(shifted, axes, keep_dims);
}

/// x/y·g, where each y belongs to the elements of x that were reduced to it; 0 where y is 0. The
/// quotient comes first: 1/y may leave the range of the dtype.
Tensor share(const Reduced& reduced, const Tensor& g, const Tensor& x, const Tensor& y) {
  const Tensor divisor = masked_fill(y, equal(y, 0), 1);
  return reshape(g, reduced.kept) * (x / reshape(divisor, reduced.kept));
}

}  // namespace

Tensor var(const Tensor& x, const Axes& axes, Dims dims, double correction) {
  check_floating("var", x);
  const Reduced reduced("var", x, axes);
  const double n = std::max(static_cast<double>(reduced.count) - correction, 0.0);
  return record("var", kernels::variance(x, reduced.axes, dims == Dims::keep, n), {x},
                [reduced, n, x = saved(x)](const Tensor& g) {  // 2(x − mean)/(n − correction)
                  return reduced.spread(g * (2 / n)) * centred(x, reduced.axes);
                });
}

Tensor stddev(const Tensor& x, const Axes& axes, Dims dims, double correction) {
  check_floating("stddev", x);
  const Reduced reduced("stddev", x, axes);
  const double n = std::max(static_cast<double>(reduced.count) - correction, 0.0);
  return record("stddev", kernels::deviation(x, reduced.axes, dims == Dims::keep, n), {x},
                [reduced, n, x = saved(x)](const Tensor& g, const Tensor& y) {
                  // (x − mean)/stddev/(n − correction), 0 at 0
                  return share(reduced, g / n, centred(x, reduced.axes), y);
                });
}

Tensor norm(const Tensor& x, const Axes& axes, Dims dims) {
  check_floating("norm", x);
  const Reduced reduced("norm", x, axes);
  return record("norm", kernels::root_mean_square(x, reduced.axes, dims == Dims::keep, 1), {x},
                [reduced, x = saved(x)](const Tensor& g, const Tensor& y) {  // x/‖x‖, 0 at 0
                  return share(reduced, g, x, y);
                });
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  check_defined("sum_to", {x});
  LADON_CHECK(broadcast_shapes("sum_to", x.shape(), shape) == x.shape(), "sum_to", "the shape ",
              shape, " does not broadcast to x's shape ", x.shape());
  return record("sum_to", kernels::sum_to(x, shape), {x},
                [from = x.shape()](const Tensor& g) { return expand(g, from); });
}

// --- products ---

namespace {

/// For each element of a row the product of the others:  [rows, n] → [rows, n]. Elements are
/// multiplied in pairs; the others of an element are its partner and the others of their pair. So
/// the work is of order n, and every derivative is exact.
Tensor product_of_others(const Tensor& x) {
  const std::int64_t rows = x.size(0), n = x.size(1);
  if (n == 1) return ones_like(x);
  if (n % 2 == 1) {
    const Tensor even = concat({x, ones({rows, 1}, x.dtype())}, 1);
    return slice(product_of_others(even), 1, {.stop = n});
  }
  const Tensor pairs = reshape(x, {rows, n / 2, 2});
  const Tensor products = select(pairs, 2, 0) * select(pairs, 2, 1);
  return reshape(flip(pairs, {2}) * unsqueeze(product_of_others(products), 2), {rows, n});
}

/// For each element the product of the others along `axis`, for any tensor that has elements.
Tensor product_of_others(const Tensor& x, int axis) {
  const Tensor last = transpose(x, axis, -1);
  const Tensor others = product_of_others(reshape(last, {-1, last.size(-1)}));
  return transpose(reshape(others, last.shape()), axis, -1);
}

/// Whether no element is 0, overflowed or lost digits to underflow.
bool all_normal(const Tensor& x) {
  return visit_floating("prod", x.dtype(), [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    return kernels::all_within(kernels::unary(kernels::Unary::abs, x), Limits::min(),
                               Limits::max());
  });
}

Tensor prod_along(const Tensor& x, int axis) {
  return record("prod", kernels::reduce(Reduce::prod, x, {axis}, false), {x},
                [x = saved(x), axis](const Tensor& g, const Tensor& y) {
                  const auto across = [axis](const Tensor& t) { return unsqueeze(t, axis); };
                  if (!all_normal(y.detach())) return across(g) * product_of_others(x, axis);
                  return across(g * y) / x;  // ∂(Π x)/∂x_i = Π_{j≠i} x_j
                });
}

}  // namespace

Tensor prod(const Tensor& x, const Axes& axes, Dims dims) {
  const Reduced reduced("prod", x, axes);
  const Tensor counted = x.dtype() == boolean ? cast(x, i64) : x;
  return one_by_one(reduced, counted, dims, prod_along);
}

// --- extremes ---

namespace {

Tensor extreme(const char* name, Reduce op, const Tensor& x, const Axes& axes, Dims dims) {
  const Reduced reduced(name, x, axes);
  LADON_CHECK(reduced.count > 0 || is_floating(x.dtype()), name, "of no ", x.dtype(),
              " elements is undefined: shape ", x.shape());
  return record(name, reduced.reduce(op, x, dims), {x},
                [reduced, x = saved(x)](const Tensor& g, const Tensor& y) {
                  const Tensor others = not_equal(x, reduced.spread(y.detach()));
                  const Tensor ties = sum(logical_not(others), reduced.axes, keep_dims);
                  const Tensor share = reshape(g, reduced.kept) / ties;
                  return masked_fill(expand(share, reduced.from), others, 0);  // 1/ties where equal
                });
}

}  // namespace

Tensor amax(const Tensor& x, const Axes& axes, Dims dims) {
  return extreme("amax", Reduce::max, x, axes, dims);
}

Tensor amin(const Tensor& x, const Axes& axes, Dims dims) {
  return extreme("amin", Reduce::min, x, axes, dims);
}

namespace {

Tensor logsumexp_along(const Tensor& x, int axis) {
  return record("logsumexp", view::squeeze(kernels::logsumexp(x, axis), axis), {x},
                [x = saved(x), axis](const Tensor& g) {
                  return unsqueeze(g, axis) * softmax(x, axis);  // ∂/∂x_i = softmax_i
                });
}

}  // namespace

Tensor logsumexp(const Tensor& x, const Axes& axes, Dims dims) {
  check_floating("logsumexp", x);
  return one_by_one(Reduced("logsumexp", x, axes), x, dims, logsumexp_along);
}

// --- positions ---

namespace {

int checked_axis(const char* operation, const Tensor& x, int axis) {
  check_defined(operation, {x});
  const int a = detail::normalize_axis(operation, axis, x.rank());
  LADON_CHECK(x.size(a) > 0, operation, "axis ", a, " of shape ", x.shape(), " is empty");
  return a;
}

/// The elements at `index`, whose axis is kept with size 1.
ValuesAndIndices pick(const Tensor& x, int axis, const Tensor& index, Dims dims) {
  const Tensor values = gather(x, axis, index);
  if (dims == Dims::keep) return {values, index};
  return {squeeze(values, axis), squeeze(index, axis)};
}

}  // namespace

ValuesAndIndices max(const Tensor& x, int axis, Dims dims) {
  const int a = checked_axis("max", x, axis);
  return pick(x, a, kernels::argmax(x, a, true), dims);
}

ValuesAndIndices min(const Tensor& x, int axis, Dims dims) {
  const int a = checked_axis("min", x, axis);
  return pick(x, a, kernels::argmin(x, a, true), dims);
}

Tensor argmax(const Tensor& x, int axis, Dims dims) {
  return kernels::argmax(x, checked_axis("argmax", x, axis), dims == Dims::keep);
}

Tensor argmin(const Tensor& x, int axis, Dims dims) {
  return kernels::argmin(x, checked_axis("argmin", x, axis), dims == Dims::keep);
}

ValuesAndIndices sort(const Tensor& x, SortOptions options) {
  check_defined("sort", {x});
  const int a = detail::normalize_axis("sort", options.axis, x.rank());
  const Tensor order = kernels::argsort(x, a, options.descending);
  return {gather(x, a, order), order};
}

ValuesAndIndices topk(const Tensor& x, std::int64_t k, TopkOptions options) {
  check_defined("topk", {x});
  const int a = detail::normalize_axis("topk", options.axis, x.rank());
  LADON_CHECK(k >= 0 && k <= x.size(a), "topk", "k = ", k, " is outside [0, ", x.size(a),
              "], the size of axis ", a, " of shape ", x.shape());
  const Tensor order = kernels::argsort_first(x, a, options.largest, k);
  return {gather(x, a, order), order};
}

// --- truth ---

Tensor any(const Tensor& x, const Axes& axes, Dims dims) {
  check_boolean("any", x);
  return Reduced("any", x, axes).reduce(Reduce::any, x, dims);
}

Tensor all(const Tensor& x, const Axes& axes, Dims dims) {
  check_boolean("all", x);
  return Reduced("all", x, axes).reduce(Reduce::all, x, dims);
}

}  // namespace ladon
