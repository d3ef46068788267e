#include "ladon/autograd/extra/windows/pooling.h"

#include "ladon/autograd/extra/windows/windows.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/extra/kernels/windows/pooling.h"
#include "ladon/core/mapped.h"

namespace ladon {
namespace {

using kernels::PoolingAxes;

Shape positions_of(const char* operation, const Tensor& x) {
  check_floating(operation, x);
  LADON_CHECK(x.rank() >= 3, operation, "expects [N, positions.., channels], got shape ",
              x.shape());
  return x.shape().sub(1, x.rank() - 1);
}

PoolingAxes axes_of(const char* operation, const Tensor& x, const Shape& window,
                    const WindowOptions& o) {
  const Shape positions = positions_of(operation, x);
  const kernels::Windows w =
      detail::windows_on(operation, positions, window,
                         {o.stride.rank() == 0 ? window : o.stride, o.before, o.after, o.dilation});
  PoolingAxes axes;
  for (int a = 0; a < w.axes(); ++a)
    axes.push_back(
        {w.positions[a], w.counts[a], w.size[a], w.stride[a], w.dilation[a], w.before[a]});
  return axes;
}

PoolingAxes even_axes(const char* operation, const Tensor& x, const Shape& counts) {
  const Shape positions = positions_of(operation, x);
  LADON_CHECK(counts.rank() == positions.rank(), operation,
              "needs one count per axis of positions: counts ", counts, " have ", counts.rank(),
              " axes, but the positions are ", positions);
  PoolingAxes axes;
  for (int a = 0; a < counts.rank(); ++a) {
    LADON_CHECK(counts[a] > 0, operation, "counts must be positive, got ", counts);
    LADON_CHECK(positions[a] > 0, operation, "the input has no positions along axis ", a,
                " of its positions ", positions, "; each axis needs at least one");
    detail::checked_product(operation, counts[a], positions[a]);
    axes.push_back({.positions = positions[a], .count = counts[a]});
  }
  return axes;
}

// --- pairs of operations, each the gradient of the other ---

Tensor spread(const Tensor& g, const PoolingAxes& axes);

Tensor sums(const Tensor& x, const PoolingAxes& axes) {
  return record("window_sums", kernels::window_sums(x, axes), {x},
                [axes](const Tensor& g) { return spread(g, axes); });
}

Tensor spread(const Tensor& g, const PoolingAxes& axes) {
  return record("spread_window_sums", kernels::spread_window_sums(g, axes), {g},
                [axes](const Tensor& x) { return sums(x, axes); });
}

Tensor placed(const Tensor& g, const Tensor& indices, const Shape& positions);

Tensor picked(const Tensor& x, const Tensor& indices) {
  return record("pick_at", kernels::pick_at(x, indices), {x},
                [indices, positions = x.shape().sub(1, x.rank() - 1)](const Tensor& g) {
                  return placed(g, indices, positions);
                });
}

Tensor placed(const Tensor& g, const Tensor& indices, const Shape& positions) {
  return record("add_at", kernels::add_at(g, indices, positions), {g},
                [indices](const Tensor& x) { return picked(x, indices); });
}

ValuesAndIndices largest(const char* operation, const Tensor& x, const PoolingAxes& axes) {
  const kernels::WindowMaxima y = kernels::window_maxima(x, axes);
  const Shape positions = x.shape().sub(1, x.rank() - 1);
  return {record(operation, y.values, {x},
                 [indices = y.indices, positions](const Tensor& g) {
                   return placed(g, indices, positions);
                 }),
          y.indices};
}

/// The sums over windows divided by `divisor`, correct even where a sum overflows but the quotient
/// does not.
template <class Divisor>
Tensor means(const Tensor& x, const PoolingAxes& axes, const Divisor& divisor) {
  const Tensor total = sums(x, axes);
  if (all(isfinite(mapped::show(total))).item<bool>()) return total / divisor;
  constexpr double small = 0x1p-30;
  return where(isfinite(total), total / divisor, sums(x * small, axes) / (divisor * small));
}

/// The means over the elements of each window, without padding.
Tensor by_sizes(const Tensor& x, const PoolingAxes& axes) {
  return means(x, axes, unsqueeze(cast(kernels::window_sizes(axes), x.dtype()), -1));
}

}  // namespace

Tensor max_pool(const Tensor& x, const Shape& window, const WindowOptions& o) {
  return largest("max_pool", x, axes_of("max_pool", x, window, o)).values;
}

ValuesAndIndices max_pool_with_indices(const Tensor& x, const Shape& window,
                                       const WindowOptions& o) {
  const char* name = "max_pool_with_indices";
  ValuesAndIndices y = largest(name, x, axes_of(name, x, window, o));
  y.indices = clone(y.indices);  // a copy, so that edits do not change what the gradient reads
  return y;
}

Tensor average_pool(const Tensor& x, const Shape& window, const AveragePoolOptions& o) {
  const PoolingAxes axes =
      axes_of("average_pool", x, window, {o.stride, o.before, o.after, o.dilation});
  if (o.divisor) {
    LADON_CHECK(*o.divisor != 0, "average_pool", "the divisor is 0; it must be another number");
    LADON_CHECK(!o.count_padding, "average_pool", "count_padding is true, but the divisor is ",
                *o.divisor,
                ", whatever is counted; leave count_padding at false, or divisor empty");
    return means(x, axes, *o.divisor);
  }
  if (!o.count_padding) return by_sizes(x, axes);
  double taps = 1;
  for (const kernels::PoolingAxis& axis : axes) taps *= static_cast<double>(axis.size);
  return means(x, axes, taps);
}

Tensor adaptive_max_pool(const Tensor& x, const Shape& counts) {
  const char* name = "adaptive_max_pool";
  return largest(name, x, even_axes(name, x, counts)).values;
}

Tensor adaptive_average_pool(const Tensor& x, const Shape& counts) {
  const PoolingAxes axes = even_axes("adaptive_average_pool", x, counts);
  return by_sizes(x, axes);
}

}  // namespace ladon
