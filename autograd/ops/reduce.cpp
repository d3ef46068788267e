#include "ladon/autograd/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/scaled.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/kernels/binary.h"
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
  if (twice != axes.end())
    detail::fail(operation, "axis ", *twice, " is listed twice; list each axis at most once");
  return axes;
}

namespace {

using kernels::Reduce;

/// The axes that a reduction of x runs over, and the shapes that its gradient needs.
struct Reduced {
  std::vector<int> axes;
  Shape from, kept;        // shape of x; the same with reduced axes of size 1
  std::int64_t count = 1;  // number of elements that are reduced to one

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
  /// The adjoint of the sum: each gradient is repeated for all elements that were summed.
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

/// x − mean, in two steps, for precision: first subtracts the rounded mean, a constant in
/// gradients, then the mean of the difference.
Tensor centred(const Tensor& x, const std::vector<int>& axes) {
  const Tensor shifted = x - kernels::mean(x, axes, true);
  return shifted - mean(shifted, axes, keep_dims);
}

/// (x/y)·g, with y and g broadcast along the reduced axes; 0 where y is 0. x is divided by y first,
/// because 1/y may overflow.
Tensor share(const Reduced& reduced, const Tensor& g, const Tensor& x, const Tensor& y) {
  const Tensor none = reshape(equal(y, 0), reduced.kept);
  const Tensor quotient = x / where(none, 1, reshape(y, reduced.kept));
  return reshape(g, reduced.kept) * where(none, 0, quotient);
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
                  // (x − mean)/stddev/(n − correction), and 0 where stddev is 0
                  return share(reduced, g / n, centred(x, reduced.axes), y);
                });
}

Tensor norm(const Tensor& x, const Axes& axes, Dims dims) {
  check_floating("norm", x);
  const Reduced reduced("norm", x, axes);
  return record("norm", kernels::root_mean_square(x, reduced.axes, dims == Dims::keep, 1), {x},
                [reduced, x = saved(x)](const Tensor& g, const Tensor& y) {  // x/‖x‖, 0 at x = 0
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

using detail::Scaled;
using detail::times;

Scaled scaled(const Tensor& x) {
  const Tensor power = kernels::power_of_two(kernels::unary(kernels::Unary::abs, x.detach()));
  const Tensor exponent = kernels::unary(kernels::Unary::log, kernels::cast(power, f64));
  return {x / power, kernels::unary(kernels::Unary::round, exponent * (1 / std::numbers::ln2))};
}

}  // namespace

// Multiplies g by 2^e in several steps, each by a power of two that the dtype can represent; the
// first one is chosen so that the product with m cannot overflow. Exponents are clamped to a bound
// beyond which every g gives 0 or ∞.
Tensor detail::times(const Tensor& g, const Scaled& x) {
  const double step = g.dtype() == f32 ? 126 : 1022, bound = 2.5 * step;
  const Scaled y = scaled(x.m);
  Tensor left = clamp(y.e + x.e, -bound, bound);
  const auto power_of_two = [&](double least) {
    const Tensor k = clamp(left, least, step);
    left = left - k;
    return cast(kernels::binary(kernels::Binary::pow, 2, k), g.dtype());
  };
  Tensor product = g * power_of_two(-1) * y.m;
  while (kernels::anywhere(not_equal(left, 0))) product = product * power_of_two(-step);
  return product;
}

namespace {

/// For each element of a row, the product of all other elements of the row:  [rows, n] → [rows, n].
/// Multiplies the elements in pairs and computes, by recursion, the product of all other pairs for
/// each pair; the result for an element is that product times its partner in the pair. The work is
/// O(n), and every derivative is exact.
Scaled product_of_others(const Scaled& x) {
  const std::int64_t rows = x.m.size(0), n = x.m.size(1);
  if (n == 1) return {ones_like(x.m), zeros_like(x.e)};
  if (n % 2 == 1) {
    const auto with = [&](const Tensor& t, double value) {
      return concat({t, full({rows, 1}, value, t.dtype())}, 1);
    };
    const Scaled y = product_of_others({with(x.m, 1), with(x.e, 0)});
    return {slice(y.m, 1, {.stop = n}), slice(y.e, 1, {.stop = n})};
  }
  const auto pairs = [&](const Tensor& t) { return reshape(t, {rows, n / 2, 2}); };
  const Tensor m = pairs(x.m), e = pairs(x.e);
  Scaled products = scaled(select(m, 2, 0) * select(m, 2, 1));
  products.e = products.e + sum(e, 2);
  const Scaled rest = product_of_others(products);
  return {reshape(flip(m, {2}) * unsqueeze(rest.m, 2), {rows, n}),
          reshape(flip(e, {2}) + unsqueeze(rest.e, 2), {rows, n})};
}

/// For each element the product of all other elements along `axis`.
Scaled product_of_others(const Tensor& x, int axis) {
  if (x.count() == 0) return {x, zeros(x.shape(), f64)};
  const Tensor last = transpose(x, axis, -1);
  const Scaled y = product_of_others(scaled(reshape(last, {-1, last.size(-1)})));
  const auto back = [&](const Tensor& t) { return transpose(reshape(t, last.shape()), axis, -1); };
  return {back(y.m), back(y.e)};
}

/// Whether no product of any elements along the axis can overflow or become subnormal.
bool products_in_range(const Tensor& x, int axis) {
  const double n = std::max(static_cast<double>(x.size(axis)), 1.0);
  const double bound = std::exp2((x.dtype() == f32 ? 126 : 1022) / n);
  return kernels::all_within(kernels::unary(kernels::Unary::abs, x), 1 / bound, bound);
}

Tensor prod_along(const Tensor& x, int axis) {
  const auto in_one_pass = [axis](const Tensor& t) {
    return kernels::reduce(Reduce::prod, t, {axis}, false);
  };
  if (!is_floating(x.dtype())) return in_one_pass(x);
  const auto across = [axis](const Tensor& t) { return unsqueeze(t, axis); };
  if (products_in_range(x, axis))
    return record("prod", in_one_pass(x), {x},
                  [x = saved(x), across, axis](const Tensor& g, const Tensor& y) {
                    return fast_or_composed(  // ∂(Π x)/∂x_i = Π_{j≠i} x_j
                        "prod_gradient", {g, *x}, [&] { return across(g) * (across(y) / x); },
                        [&] { return times(across(g), product_of_others(x, axis)); });
                  });
  const auto first = [axis](const Tensor& t) { return slice(t, axis, {.stop = 1}); };
  const Tensor constant = x.detach();
  const Scaled one = scaled(first(constant)), others = product_of_others(constant, axis);
  const Tensor y = times(one.m, {first(others.m), one.e + first(others.e)});
  return record("prod", squeeze(y, axis), {x}, [x = saved(x), across, axis](const Tensor& g) {
    return times(across(g), product_of_others(x, axis));
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
  LADON_CHECK(reduced.count > 0 || is_floating(x.dtype()), name,
              "needs at least one element to reduce, since the extreme over no ", x.dtype(),
              " elements is undefined: shape ", x.shape());
  return record(name, reduced.reduce(op, x, dims), {x},
                [reduced, x = saved(x)](const Tensor& g, const Tensor& y) {
                  const Tensor most = reduced.spread(y.detach());
                  Tensor others = not_equal(x, most);
                  if (!kernels::all_within(y.detach(), -HUGE_VAL, HUGE_VAL))  // an extreme is NaN
                    others = where(isnan(most), logical_not(isnan(x)), others);
                  const Tensor ties = sum(logical_not(others), reduced.axes, keep_dims);
                  const Tensor share = reshape(g, reduced.kept) / ties;
                  return masked_fill(expand(share, reduced.from), others, 0);  // 1/ties at ties
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

// --- indices of elements ---

namespace {

int checked_axis(const char* operation, const Tensor& x, int axis) {
  check_defined(operation, {x});
  const int a = detail::normalize_axis(operation, axis, x.rank());
  LADON_CHECK(x.size(a) > 0, operation, "axis ", a, " of shape ", x.shape(),
              " is empty, but at least one element is needed");
  return a;
}

/// The elements of x at `index`, whose size along `axis` is 1, and `index` itself; Dims::drop
/// removes that axis from both.
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
              "]: axis ", a, " of shape ", x.shape(), " has ", x.size(a), " elements");
  const Tensor order = kernels::argsort_first(x, a, options.largest, k);
  return {gather(x, a, order), order};
}

// --- reductions of booleans ---

Tensor any(const Tensor& x, const Axes& axes, Dims dims) {
  check_boolean("any", x);
  return Reduced("any", x, axes).reduce(Reduce::any, x, dims);
}

Tensor all(const Tensor& x, const Axes& axes, Dims dims) {
  check_boolean("all", x);
  return Reduced("all", x, axes).reduce(Reduce::all, x, dims);
}

}  // namespace ladon
