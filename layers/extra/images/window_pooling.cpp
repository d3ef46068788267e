#include "ladon/layers/extra/images/window_pooling.h"

#include <cmath>

#include "ladon/autograd/extra/windows/pooling.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/mapped.h"
#include "ladon/core/unread.h"
#include "ladon/layers/extra/images/kernel_windows.h"
#include "ladon/layers/infinite/kernel/graph.h"
#include "ladon/layers/masked.h"

namespace ladon {

using infinite::KernelNode;
using infinite::Pairs;

namespace {

/// Step of a limit that averages over window a of x and window b of x'.
infinite::Step averaged(const KernelNode& k, const Shape& after) {
  const auto formula = [] {
    return infinite::Formula{"mean over visible i in window a, visible j in window b of $k_ij",
                             "mean over visible i in window a, visible j in window b of $t_ij"};
  };
  return {.makes = k.law, .formula = formula, .positions = after};
}

std::vector<SlidingWindow> checked_windows(const char* name, const PoolOptions& o) {
  if (o.before.rank() > 0 || o.after.rank() > 0)
    detail::check_unread(name, "padding", to_string(o.padding), to_string(PoolOptions{}.padding),
                         "the zeros in before and after take its place; leave these empty");
  return detail::windows_of(name, {.size = o.window,
                                   .stride = o.stride.rank() > 0 ? o.stride : o.window,
                                   .padding = o.padding,
                                   .dilation = o.dilation,
                                   .before = o.before,
                                   .after = o.after});
}

/// Number of windows per axis of x, which must have one axis of positions per window.
Shape counts_on(const char* name, const std::vector<SlidingWindow>& windows, const Tensor& x,
                const Tensor& mask) {
  LADON_CHECK(
      x.rank() == 2 + detail::axes_of(name, windows), name, "has windows over ", windows.size(),
      " axes, so inputs must be [N, positions.., channels] with as many axes of positions, got "
      "shape ",
      x.shape());
  return detail::window_counts(name, windows, x.shape().sub(1, x.rank() - 1), mask.defined());
}

/// Sum over each window, along the axes from `first` on.
Tensor sums_over(const std::vector<SlidingWindow>& windows, const Tensor& x, int first) {
  Tensor y = x;
  for (std::size_t i = 0; i < windows.size(); ++i)
    y = detail::window_sums(y, first + static_cast<int>(i), windows[i]);
  return y;
}

/// Number of visible positions in each window:  mask [.., T] (or none) → [.., T'].
Tensor counts_over(const std::vector<SlidingWindow>& windows, const Tensor& mask,
                   const Shape& positions) {
  Tensor visible = ones(positions, f64);
  const Shape leading = mask.defined() ? mask.shape().sub(0, mask.rank() - 1) : Shape();
  if (mask.defined()) {
    Shape shape = leading;
    for (const std::int64_t size : positions) shape.append(size);
    visible = reshape(cast(mask, f64), shape);
  }
  return flatten(sums_over(windows, visible, leading.rank()), leading.rank(), -1);
}

/// counts_over() for the windows of x, shaped to broadcast:  [N or 1, counts of windows.., 1].
Tensor counts_on_windows(const std::vector<SlidingWindow>& windows, const Tensor& x,
                         const Tensor& mask, const Shape& after) {
  Shape broadcast = {mask.defined() ? x.size(0) : 1};
  for (const std::int64_t size : after) broadcast.append(size);
  broadcast.append(1);
  return reshape(counts_over(windows, mask, x.shape().sub(1, x.rank() - 1)), broadcast);
}

}  // namespace

// --- AveragePool ---

AveragePool::AveragePool(const PoolOptions& o) : windows(checked_windows("AveragePool", o)) {}

Tensor AveragePool::forward_masked(const Tensor& x, const Tensor& mask) const {
  const Shape after = counts_on("AveragePool", windows, x, mask);
  const detail::Surrounded seen =
      detail::surround(detail::zero_masked("AveragePool", x, mask), windows);
  const WindowOptions& o = seen.options;
  const auto sums_of = [&](const Tensor& terms) {
    return average_pool(
        terms, detail::sizes_of(windows),
        {o.stride, o.before, o.after, o.dilation, /*count_padding=*/false, /*divisor=*/1.0});
  };
  const Tensor counts =
      cast(maximum(counts_on_windows(windows, x, mask, after), 1), seen.x.dtype());
  const Tensor sums = sums_of(seen.x);
  if (all(isfinite(mapped::show(sums))).item<bool>()) return sums / counts;
  // Where a sum overflows, scaled-down terms are summed, as in average_pool().
  constexpr double small = 0x1p-30;
  return where(isfinite(sums), sums / counts, sums_of(seen.x * small) / (counts * small));
}

KernelNode AveragePool::limit(const KernelNode& k) const {
  k.need_positions("AveragePool");
  const Shape before = k.positions;
  const Shape after = detail::window_counts("AveragePool", windows, before, k.masked);
  return infinite::map_pairs(k, averaged(k, after), [this, before, after](const Pairs& pairs) {
    const auto seen = [&](const Tensor& mask) {
      return maximum(counts_over(windows, mask, before), 1);
    };
    const Tensor left = unsqueeze(seen(pairs.left_mask), -1);
    const Tensor right = unsqueeze(seen(pairs.right_mask), -2);
    return pairs.each([&](const Tensor& block) {
      const Tensor parts = infinite::split_positions(pairs.visible(block), before);
      const int columns = parts.rank() - after.rank(), rows = columns - after.rank();
      const Tensor sums = sums_over(windows, sums_over(windows, parts, columns), rows);
      return infinite::join_positions(sums, after) / left / right;
    });
  });
}

std::string AveragePool::describe() const {
  return detail::join("AveragePool(", ladon::describe(windows), ")");
}

// --- MaxPool ---

MaxPool::MaxPool(const PoolOptions& o) : windows(checked_windows("MaxPool", o)) {}

Tensor MaxPool::forward_masked(const Tensor& x, const Tensor& mask) const {
  const Shape after = counts_on("MaxPool", windows, x, mask);
  Tensor visible = x;
  if (mask.defined())
    visible = masked_fill(x, logical_not(detail::spread_mask("MaxPool", x, mask)), -INFINITY);
  const detail::Surrounded seen = detail::surround(visible, windows);
  const Tensor y = max_pool(seen.x, detail::sizes_of(windows), seen.options);
  return masked_fill(y, equal(counts_on_windows(windows, x, mask, after), 0), 0);
}

std::string MaxPool::describe() const {
  return detail::join("MaxPool(", ladon::describe(windows), ")");
}

// --- AdaptiveAveragePool ---

AdaptiveAveragePool::AdaptiveAveragePool(const Shape& c) : counts(c) {
  LADON_CHECK(c.rank() > 0, "AdaptiveAveragePool",
              "needs a count for each axis of positions, got none");
  for (const std::int64_t count : c)
    LADON_CHECK(count > 0, "AdaptiveAveragePool", "counts must be positive, got ", c);
}

namespace {

/// Throws Error if positions are masked and their number changes.
void check_counts(const Shape& counts, const Shape& positions, bool masked) {
  LADON_CHECK(!masked || counts == positions, "AdaptiveAveragePool", "makes positions ", counts,
              " of ", positions,
              ", but with a mask the number of positions must not change: later layers would need "
              "a mask of the new positions");
}

}  // namespace

Tensor AdaptiveAveragePool::forward_masked(const Tensor& x, const Tensor& mask) const {
  LADON_CHECK(x.rank() == 2 + counts.rank(), "AdaptiveAveragePool", "has counts for ",
              counts.rank(), " axes, got shape ", x.shape());
  check_counts(counts, x.shape().sub(1, x.rank() - 1), mask.defined());
  return adaptive_average_pool(detail::zero_masked("AdaptiveAveragePool", x, mask), counts);
}

KernelNode AdaptiveAveragePool::limit(const KernelNode& k) const {
  k.need_positions("AdaptiveAveragePool");
  LADON_CHECK(counts.rank() == k.positions.rank(), "AdaptiveAveragePool", "has counts for ",
              counts.rank(), " axes, but the inputs have positions ", k.positions);
  const Shape before = k.positions, after = counts;
  check_counts(after, before, k.masked);
  // Averaging a kernel over a window of x and a window of x' is pooling over the axes of both.
  Shape both = after;
  for (const std::int64_t count : after) both.append(count);
  return infinite::map_pairs(k, averaged(k, after), [=](const Pairs& pairs) {
    return pairs.each([&](const Tensor& block) {
      const Shape leading = block.shape().sub(0, block.rank() - 2);
      const Tensor parts = infinite::split_positions(pairs.visible(block), before);
      Shape flat = parts.shape().sub(leading.rank(), parts.rank()), shape = leading;
      flat.insert(0, leading.count());
      flat.append(1);
      for (const std::int64_t count : both) shape.append(count);
      return infinite::join_positions(
          reshape(adaptive_average_pool(reshape(parts, flat), both), shape), after);
    });
  });
}

std::string AdaptiveAveragePool::describe() const {
  return detail::join("AdaptiveAveragePool(", counts, ")");
}

}  // namespace ladon
