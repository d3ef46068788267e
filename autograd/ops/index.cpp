#include "ladon/autograd/ops/index.h"

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/index.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/moments.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon {
namespace {

// Two linear maps, adjoint to each other: take_rows selects slices along an axis, and add_rows adds
// slices at given indices of an axis of size n (kernels/index.h).
Tensor add_rows(const Tensor& x, int axis, const Tensor& rows, std::int64_t n);

Tensor take_rows(const Tensor& x, int axis, const Tensor& rows) {
  return record(
      "take_rows", kernels::take_rows(x, axis, rows), {x},
      [axis, rows, n = x.shape()[axis]](const Tensor& g) { return add_rows(g, axis, rows, n); });
}
Tensor add_rows(const Tensor& x, int axis, const Tensor& rows, std::int64_t n) {
  return record("add_rows", kernels::add_rows(x, axis, rows, n), {x},
                [axis, rows](const Tensor& g) { return take_rows(g, axis, rows); });
}

// Two linear maps, adjoint to each other: masked_elements lists the elements where a mask is true,
// and put_masked writes such a list into zeros of the mask's shape.
Tensor put_masked(const Tensor& x, const Tensor& mask);

Tensor masked_elements(const Tensor& x, const Tensor& mask) {
  return record("masked_select", kernels::masked_elements(x, mask), {x},
                [mask = saved(mask)](const Tensor& g) { return put_masked(g, *mask); });
}
Tensor put_masked(const Tensor& x, const Tensor& mask) {
  return record("put_masked", kernels::put_masked(x, mask), {x},
                [mask = saved(mask)](const Tensor& g) { return masked_elements(g, *mask); });
}

Tensor zeros_of(const Shape& shape, DType dtype) { return expand(scalar(0, dtype), shape); }

/// Whether all indices lie in [0, n).
bool all_inside(const Tensor& index, std::int64_t n) {
  return index.dtype() == i64 && index.count() > 0 &&
         kernels::all_within(index, 0, static_cast<double>(n - 1));
}

/// The index with only its first slice along each axis (other than `axis`) on which it is expanded,
/// so that no index is checked twice.
Tensor unexpanded(Tensor index, int axis) {
  for (int i = 0; i < index.rank(); ++i)
    if (i != axis && index.strides()[i] == 0) index = view::slice(index, i, 0, 1, 1);
  return index;
}

/// The index, after checking that its shape and values fit x as gather() requires. An expanded
/// index is not copied, so that the kernels can move whole rows.
Tensor places(const char* operation, const Tensor& x, int axis, const Tensor& index) {
  check_defined(operation, {index});
  LADON_CHECK(index.rank() == x.rank(), operation, "the index of shape ", index.shape(),
              " must have the rank of the tensor, whose shape is ", x.shape());
  for (int i = 0; i < x.rank(); ++i)
    LADON_CHECK(i == axis || index.shape()[i] <= x.shape()[i], operation, "the index of shape ",
                index.shape(), " is larger than the tensor of shape ", x.shape(),
                ", which is allowed only along the indexed axis, at axis ", i);
  if (!index.mapped() && all_inside(unexpanded(index, axis), x.shape()[axis])) return index;
  return kernels::checked_indices(operation, index, x.shape()[axis]);
}

void check_source(const char* operation, const Tensor& x, const Tensor& index,
                  const Tensor& source) {
  LADON_CHECK(source.shape() == index.shape(), operation,
              "the source must have the shape of the index, but the source has shape ",
              source.shape(), ", the index ", index.shape());
  LADON_CHECK(source.dtype() == x.dtype(), operation,
              "the source must have the dtype of the tensor, but the source is ", source.dtype(),
              ", the tensor ", x.dtype());
}

}  // namespace

Tensor index_select(const Tensor& x, int axis, const Tensor& index) {
  check_defined("index_select", {x, index});
  axis = detail::normalize_axis("index_select", axis, x.rank());
  LADON_CHECK(index.rank() == 1, "index_select", "the index must have one axis, got shape ",
              index.shape());
  const Tensor rows = kernels::checked_indices("index_select", index, x.shape()[axis]);
  return record("index_select", kernels::take_rows(x, axis, rows), {x},
                [axis, rows, n = x.shape()[axis]](const Tensor& g) {
                  return add_rows(g, axis, rows, n);  // ∂y_i/∂x_rows[i] = 1
                });
}

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  check_defined("gather", {x, index});
  axis = detail::normalize_axis("gather", axis, x.rank());
  const Tensor at = places("gather", x, axis, index);
  return record("gather", kernels::gather(x, axis, at), {x},
                [axis, at = saved(at), shape = x.shape()](const Tensor& g) {
                  return scatter_add(zeros_of(shape, g.dtype()), axis, *at, g);
                });
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& source) {
  check_defined("scatter_add", {x, index, source});
  axis = detail::normalize_axis("scatter_add", axis, x.rank());
  check_source("scatter_add", x, index, source);
  const Tensor at = places("scatter_add", x, axis, index);
  Tensor y = mapped::room(kernels::clone(x), {&at, &source});
  kernels::scatter(kernels::Scatter::add, y, axis, at, source);
  return record(
      "scatter_add", y, {x, source}, [](const Tensor& g) { return g; },
      [axis, at = saved(at)](const Tensor& g) { return gather(g, axis, *at); });
}

Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& source) {
  check_defined("scatter", {x, index, source});
  axis = detail::normalize_axis("scatter", axis, x.rank());
  check_source("scatter", x, index, source);
  const Tensor at = places("scatter", x, axis, index);
  Tensor y = mapped::room(kernels::clone(x), {&at, &source});
  kernels::scatter(kernels::Scatter::write, y, axis, at, source);
  return record(
      "scatter", y, {x, source},
      [axis, at = saved(at)](const Tensor& g) {  // overwritten elements of x get gradient 0
        return scatter(g, axis, *at, zeros_of(at->shape(), g.dtype()));
      },
      [axis, at = saved(at), shape = x.shape()](const Tensor& g) {
        // Of several source elements that are written to one element of x, only the last gets its
        // gradient. It is found by scattering the numbers 0, 1, … of the source elements.
        const Tensor writes = reshape(arange(at->count()), at->shape());
        const Tensor last = scatter(zeros_of(shape, i64), axis, *at, writes);
        const Tensor lost = not_equal(gather(last, axis, *at), writes);
        return masked_fill(gather(g, axis, *at), lost, 0);
      });
}

namespace {

/// Operands of a scatter operation: destination, index, source.
struct Scattering {
  Tensor x, index, source;
  int axis;
  bool include_self;

  /// Number of source elements per element of x (i64).
  Tensor counts() const {
    return scatter_add(zeros(x.shape(), i64), axis, index, ones(index.shape(), i64));
  }
  /// x, with the neutral element of the reduction in place of those elements of x that
  /// include_self = false leaves out.
  Tensor own(double neutral) const {
    return include_self ? x : masked_fill(x, counts() > 0, neutral);
  }
};

/// For each element of x, its product with all source elements that are scattered to it (its
/// group). The elements of x and of the source are sorted by group into one list v, in each group
/// the element of x first. With
///   h_t = v_t·h_{t−1}, but h_t = v_t at the first element of a group,
/// the last h_t of a group is its product. All derivatives of this recurrence are exact even if
/// elements are zero.
Tensor scattered_product(const Scattering& s) {
  const Tensor places = arange(s.x.count());
  const Tensor targets = gather(reshape(places, s.x.shape()), s.axis, s.index);
  const Tensor to = concat({places, flatten(targets)}, 0);
  const Tensor order = sort(to, {.axis = 0}).indices;
  const Tensor v = index_select(concat({flatten(s.own(1)), flatten(s.source)}, 0), 0, order);
  const Tensor begins = order < static_cast<double>(s.x.count());
  const Tensor h =
      linear_recurrence(masked_fill(v, begins, 0), masked_fill(v, logical_not(begins), 0), 0);
  const Tensor last = cumsum(flatten(s.counts()) + 1, 0) - 1;
  return reshape(index_select(h, 0, last), s.x.shape());
}

Tensor scattered_extreme(const Scattering& s, kernels::Scatter op) {
  const Tensor alone =
      s.include_self ? zeros(s.x.shape(), boolean) : s.counts() > 0;  // where x does not count
  const Tensor begin = s.include_self ? s.x : scatter(s.x, s.axis, s.index, s.source);
  Tensor y = mapped::room(kernels::clone(begin.detach()), {&s.index, &s.source});
  kernels::scatter(op, y, s.axis, s.index, s.source);
  const auto rule = [x = saved(s.x), source = saved(s.source), index = saved(s.index),
                     axis = s.axis,
                     alone](const Tensor& g, const Tensor& out, detail::GradientSink& sink) {
    const Tensor extremes = out.detach();
    const Tensor own = logical_and(equal(x, extremes), logical_not(alone));
    const Tensor theirs = equal(source, gather(extremes, axis, *index));
    const Tensor ties = scatter_add(cast(own, i64), axis, *index, cast(theirs, i64));
    const Tensor share = g / cast(ties, g.dtype());
    if (sink.needs(0)) sink.give(0, masked_fill(share, logical_not(own), 0));
    if (sink.needs(1))
      sink.give(1, masked_fill(gather(share, axis, *index), logical_not(theirs), 0));
  };
  return record_joint("scatter_reduce", y, {s.x, s.source}, rule);
}

}  // namespace

Tensor scatter_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& source,
                      Scattered by, bool include_self) {
  constexpr const char* operation = "scatter_reduce";
  check_defined(operation, {x, index, source});
  axis = detail::normalize_axis(operation, axis, x.rank());
  check_source(operation, x, index, source);
  LADON_CHECK(x.dtype() != boolean, operation,
              "does not reduce booleans; convert them with cast(x, i64)");
  const Scattering s{x, places(operation, x, axis, index), source, axis, include_self};
  switch (by) {
    case Scattered::sum:
      return scatter_add(s.own(0), axis, s.index, source);
    case Scattered::mean: {
      check_floating(operation, x);
      const Tensor n = cast(include_self ? s.counts() + 1 : maximum(s.counts(), 1), x.dtype());
      const Tensor y = scatter_add(s.own(0), axis, s.index, source) / n;
      if (all(isfinite(mapped::show(y))).item<bool>()) return y;
      const Tensor of_parts =  // divided before the sum, for means whose sum overflows
          scatter_add(s.own(0) / n, axis, s.index, source / gather(n, axis, s.index));
      return where(isfinite(y.detach()), y, of_parts);
    }
    case Scattered::prod:
      return scattered_product(s);
    case Scattered::max:
      return scattered_extreme(s, kernels::Scatter::max);
    case Scattered::min:
      return scattered_extreme(s, kernels::Scatter::min);
  }
  detail::fail(operation, "unknown reduction; use a value of the enum Scattered");
}

Tensor embedding(const Tensor& weight, const Tensor& index, EmbeddingLookupOptions options) {
  check_defined("embedding", {weight, index});
  LADON_CHECK(weight.rank() == 2, "embedding", "the table must have shape [n, d], got ",
              weight.shape());
  const std::int64_t n = weight.shape()[0], d = weight.shape()[1];
  LADON_CHECK(options.padding_index < n, "embedding", "padding_index ", options.padding_index,
              " is out of range for a table of ", n, " rows; it must be below ", n,
              ", or negative for none");
  Tensor rows = reshape(kernels::checked_indices("embedding", index, n), {index.count()});
  Shape shape = index.shape();
  shape.append(d);
  Tensor y = reshape(kernels::take_rows(weight.detach(), 0, rows), shape);
  if (options.padding_index >= 0)  // the padding index becomes −1, which add_rows ignores
    rows = where(equal(rows, static_cast<double>(options.padding_index)), scalar(-1, i64), rows);
  return record("embedding", y, {weight}, [rows, n, d](const Tensor& g) {
    return add_rows(reshape(g, {rows.count(), d}), 0, rows, n);
  });
}

Tensor one_hot(const Tensor& index, std::int64_t classes, DType dtype) {
  check_defined("one_hot", {index});
  LADON_CHECK(classes >= 0, "one_hot", "the number of classes, ", classes, ", is negative");
  const Tensor at = unsqueeze(kernels::checked_indices("one_hot", index, classes), -1);
  Shape shape = index.shape();
  shape.append(classes);
  Tensor y = mapped::room(zeros(shape, dtype), {&at});
  kernels::scatter(kernels::Scatter::write, y, index.rank(), at, ones(at.shape(), dtype));
  return y;
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  check_defined("masked_select", {x, mask});
  LADON_CHECK(mask.dtype() == boolean, "masked_select", "the mask must be bool, got ",
              mask.dtype());
  LADON_CHECK(mask.shape() == x.shape(), "masked_select",
              "the mask must have the shape of the tensor, but the mask has shape ", mask.shape(),
              ", the tensor ", x.shape());
  return masked_elements(x, mask);
}

Tensor nonzero(const Tensor& x) {
  check_defined("nonzero", {x});
  return kernels::nonzero(x);
}

UniqueElements unique(const Tensor& x, std::optional<int> axis) {
  check_defined("unique", {x});
  const Tensor list = axis ? x : reshape(x, {x.count()});
  const int a = axis ? detail::normalize_axis("unique", *axis, x.rank()) : 0;
  const std::int64_t n = list.size(a);
  const Tensor front = transpose(list, 0, a);
  const Tensor rows = reshape(front.detach(), {n, front.shape().sub(1, front.rank()).count()});
  const std::int64_t columns = n > 1 ? rows.size(1) : 0;  // a single row needs no sorting, and may
                                                          // have very many columns
  Tensor order = columns == 0 ? arange(n) : Tensor();
  // Stable sorts, by the last column first and by the first column last, give lexicographic order.
  for (std::int64_t column = columns; column-- > 0;) {
    const Tensor all = select(rows, 1, column);
    const Tensor keys = order.defined() ? kernels::take_rows(all, 0, order) : all;
    const Tensor by_key = kernels::argsort(keys, 0, false);
    order = order.defined() ? kernels::take_rows(order, 0, by_key) : by_key;
  }
  const Tensor sorted = kernels::take_rows(rows, 0, order);
  const Tensor unlike = not_equal(slice(sorted, 0, {.start = 1}), slice(sorted, 0, {.stop = -1}));
  const Tensor differ = columns == 1 ? flatten(unlike) : any(unlike, 1);
  const kernels::Runs runs =
      kernels::runs_of(order, concat({ones({n > 0 ? 1 : 0}, boolean), differ}, 0));
  return {index_select(list, a, runs.first), runs.first,
          axis ? runs.which : reshape(runs.which, x.shape()), runs.counts};
}

}  // namespace ladon
