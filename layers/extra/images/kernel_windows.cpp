#include "ladon/layers/extra/images/kernel_windows.h"

#include <algorithm>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {

Tensor split_positions(const Tensor& k, const Shape& positions) {
  Shape shape = k.shape().sub(0, k.rank() - 2);
  for (int side = 0; side < 2; ++side)
    for (const std::int64_t size : positions) shape.append(size);
  return reshape(k, shape);
}

Tensor join_positions(const Tensor& k, const Shape& positions) {
  const Tensor columns = flatten(k, -positions.rank(), -1);
  return flatten(columns, -1 - positions.rank(), -2);
}

namespace {

Tensor composed(const Tensor& k, int axis1, int axis2, const SlidingWindow& window) {
  const std::int64_t count = window.count(k.size(axis1));
  const Tensor around = detail::surround(detail::surround(k, axis1, window), axis2, window);
  const auto both_taps = [&](std::int64_t o) {
    return detail::tap(detail::tap(around, axis1, window, count, o), axis2, window, count, o);
  };
  Tensor y = both_taps(0);
  for (std::int64_t o = 1; o < window.size; ++o) y = y + both_taps(o);
  return y;
}

/// Consecutive windows, and the positions that they see at one tap: window `to + i` sees position
/// `from + i·stride`, for 0 ≤ i < `count`.
struct Run {
  std::int64_t to, from, count;
};

/// Positions that the windows on n positions see through their taps.
struct Taps {
  SlidingWindow window;
  std::int64_t n, count, before;
  std::vector<std::vector<Run>> runs;  // per tap

  Taps(const SlidingWindow& w, std::int64_t positions)
      : window(w), n(positions), count(w.count(positions)), before(w.before(positions)) {
    for (std::int64_t o = 0; o < window.size; ++o) runs.push_back(runs_of(o));
  }

  /// The position that window i sees at a tap; −1 if there is none.
  std::int64_t position(std::int64_t i, std::int64_t tap) const {
    const std::int64_t at = i * window.stride - before + tap * window.dilation;
    if (window.padding == Padding::circular) return (at % n + n) % n;
    return at >= 0 && at < n ? at : -1;
  }

 private:
  std::vector<Run> runs_of(std::int64_t tap) const {
    std::vector<Run> found;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = position(i, tap);
      if (at < 0) continue;
      const bool follows = !found.empty() && i == found.back().to + found.back().count &&
                           at == found.back().from + found.back().count * window.stride;
      if (follows)
        ++found.back().count;
      else
        found.push_back({i, at, 1});
    }
    return found;
  }
};

/// Sizes of the other axes in k [outer, n, between, n, inner] and
/// y [outer, count, between, count, inner].
struct Layout {
  std::int64_t outer = 1, between = 1, inner = 1;
};

/// For one index of the first three axes of y:  y[.., j, c] += k[.., position(j), c] for all j of
/// the run.
void add_run(const Run& run, std::int64_t stride, std::int64_t inner, const double* k, double* y) {
  double* to = y + run.to * inner;
  const double* from = k + run.from * inner;
  if (stride == 1) {
    for (std::int64_t c = 0; c < run.count * inner; ++c) to[c] += from[c];
    return;
  }
  for (std::int64_t i = 0; i < run.count; ++i, to += inner, from += stride * inner)
    for (std::int64_t c = 0; c < inner; ++c) to[c] += from[c];
}

/// Block [between, count, inner] of y for one outer index and one window i: the sum over taps.
void sum_taps(const Taps& taps, const Layout& layout, const double* k, std::int64_t i, double* y) {
  const std::int64_t from_row = taps.n * layout.inner, to_row = taps.count * layout.inner;
  std::fill_n(y, layout.between * to_row, 0.0);
  for (std::int64_t o = 0; o < taps.window.size; ++o) {
    const std::int64_t at = taps.position(i, o);
    if (at < 0) continue;
    for (std::int64_t b = 0; b < layout.between; ++b)
      for (const Run& run : taps.runs[o])
        add_run(run, taps.window.stride, layout.inner, k + (at * layout.between + b) * from_row,
                y + b * to_row);
  }
}

Tensor run_by_run(const Tensor& k, int first, int second, const SlidingWindow& window) {
  const Taps taps(window, k.size(first));
  const Layout layout = {.outer = k.shape().sub(0, first).count(),
                         .between = k.shape().sub(first + 1, second).count(),
                         .inner = k.shape().sub(second + 1, k.rank()).count()};
  Shape shape = k.shape();
  shape[first] = shape[second] = taps.count;
  Tensor y = empty(shape, f64);
  const Tensor x = contiguous(k);
  const double* from = x.data<double>();
  double* to = y.mutable_data<double>();
  const std::int64_t block = taps.n * layout.between * taps.n * layout.inner;
  const std::int64_t row = layout.between * taps.count * layout.inner;
  const std::int64_t grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(row, 1));
  parallel::for_range(layout.outer * taps.count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      sum_taps(taps, layout, from + r / taps.count * block, r % taps.count, to + r * row);
  });
  return y;
}

}  // namespace

Tensor joint_window_sums(const Tensor& k, int axis1, int axis2, const SlidingWindow& window) {
  const int first = detail::normalize_axis("joint_window_sums", axis1, k.rank());
  const int second = detail::normalize_axis("joint_window_sums", axis2, k.rank());
  LADON_CHECK(first < second && k.size(first) == k.size(second), "joint_window_sums",
              "needs two axes of equal length, the lower one first; got axes ", axis1, " and ",
              axis2, " of shape ", k.shape());
  LADON_CHECK(k.dtype() == f64, "joint_window_sums", "needs an f64 tensor, got ", k.dtype(),
              "; convert it with cast(k, f64)");
  return fast_or_composed(
      "joint_window_sums", {k}, [&] { return run_by_run(k, first, second, window); },
      [&] { return composed(k, first, second, window); });
}

}  // namespace ladon::infinite
