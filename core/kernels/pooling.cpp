#include "ladon/core/kernels/pooling.h"

#include <algorithm>
#include <limits>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/patches.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/strided.h"
#include "ladon/core/mapped.h"

namespace ladon::kernels {

Span PoolingAxis::span(std::int64_t i) const {
  if (size == 0) return {i * positions / count, ((i + 1) * positions + count - 1) / count, 1};
  const std::int64_t start = i * stride - before;
  const std::int64_t skipped = start < 0 ? (-start + dilation - 1) / dilation : 0;
  const std::int64_t stop = start + (size - 1) * dilation + 1;
  return {start + skipped * dilation, std::min(stop, positions), dilation};
}

namespace {

Shape counts_of(const PoolingAxes& axes) {
  Shape counts;
  for (const PoolingAxis& axis : axes) counts.append(axis.count);
  return counts;
}

Shape positions_of(const PoolingAxes& axes) {
  Shape positions;
  for (const PoolingAxis& axis : axes) positions.append(axis.positions);
  return positions;
}

/// Calls see(position) for what the spans see, in row-major order; `line` counts the positions of the
/// axes before.
template <class See>
void each_seen(const PoolingAxes& axes, const Span* spans, std::size_t axis, std::int64_t line,
               const See& see) {
  if (axis == axes.size()) return see(line);
  const Span& span = spans[axis];
  for (std::int64_t at = span.first; at < span.stop; at += span.step)
    each_seen(axes, spans, axis + 1, line * axes[axis].positions + at, see);
}

/// The same for window `index` (of all, row-major).
template <class See>
void each_in_window(const PoolingAxes& axes, std::int64_t index, const See& see) {
  Span spans[Shape::max_rank];
  for (std::size_t a = axes.size(); a-- > 0; index /= axes[a].count)
    spans[a] = axes[a].span(index % axes[a].count);
  each_seen(axes, spans, 0, 0, see);
}

/// Calls body(window) for all windows of n images, in tasks of windows.
template <class Body>
void for_windows(std::int64_t n, std::int64_t windows, std::int64_t channels, const Body& body) {
  const std::int64_t grain = std::max<std::int64_t>(1, task_length / (8 * channels));
  parallel::for_range(n * windows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

/// The same in tasks of images: windows of one image overlap.
template <class Body>
void for_images(std::int64_t n, std::int64_t windows, std::int64_t channels, const Body& body) {
  const std::int64_t grain = std::max<std::int64_t>(1, task_length / (windows * channels));
  parallel::for_range(n, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin * windows; i < end * windows; ++i) body(i);
  });
}

}  // namespace

Tensor window_sums(const Tensor& x, const PoolingAxes& axes) {
  if (mapped::any(x)) {
    const auto alone = [&](const auto& of) { return std::vector{window_sums(of[0], axes)}; };
    return mapped::each({x}, alone)[0];
  }
  const std::int64_t n = x.size(0), channels = x.size(-1);
  Tensor y = zeros(image_shape(n, counts_of(axes), channels), x.dtype());
  if (y.count() == 0) return y;
  const Tensor source = contiguous(x);
  const std::int64_t windows = y.count() / n / channels, image = x.count() / n;
  visit_floating("window_sums", x.dtype(), [&]<class T>() {
    const T* from = source.data<T>();
    T* to = y.mutable_data<T>();
    const auto add = loops().of<T>().binary[static_cast<int>(Binary::add)];
    for_windows(n, windows, channels, [&](std::int64_t i) {
      T* sum = to + i * channels;
      each_in_window(axes, i % windows, [&](std::int64_t at) {
        const T* seen = from + i / windows * image + at * channels;
        add(sum, seen, sum, channels);
      });
    });
  });
  return y;
}

Tensor spread_window_sums(const Tensor& g, const PoolingAxes& axes) {
  if (mapped::any(g)) {
    const auto alone = [&](const auto& of) { return std::vector{spread_window_sums(of[0], axes)}; };
    return mapped::each({g}, alone)[0];
  }
  const std::int64_t n = g.size(0), channels = g.size(-1);
  Tensor y = zeros(image_shape(n, positions_of(axes), channels), g.dtype());
  if (y.count() == 0 || g.count() == 0) return y;
  const Tensor source = contiguous(g);
  const std::int64_t windows = g.count() / n / channels, image = y.count() / n;
  visit_floating("window_sums", g.dtype(), [&]<class T>() {
    const T* from = source.data<T>();
    T* to = y.mutable_data<T>();
    const auto add = loops().of<T>().binary[static_cast<int>(Binary::add)];
    for_images(n, windows, channels, [&](std::int64_t i) {
      const T* up = from + i * channels;
      each_in_window(axes, i % windows, [&](std::int64_t at) {
        T* seen = to + i / windows * image + at * channels;
        add(seen, up, seen, channels);
      });
    });
  });
  return y;
}

Tensor window_sizes(const PoolingAxes& axes) {
  Tensor sizes = empty(counts_of(axes), f64);
  double* to = sizes.mutable_data<double>();
  for (std::int64_t i = 0; i < sizes.count(); ++i) {
    std::int64_t seen = 1, index = i;
    for (std::size_t a = axes.size(); a-- > 0; index /= axes[a].count)
      seen *= axes[a].span(index % axes[a].count).count();
    to[i] = static_cast<double>(seen);
  }
  return sizes;
}

WindowMaxima window_maxima(const Tensor& x, const PoolingAxes& axes) {
  if (x.mapped()) {
    const auto alone = [&](const auto& of) {
      const WindowMaxima m = window_maxima(of[0], axes);
      return std::vector{m.values, m.indices};
    };
    const std::vector<Tensor> m = mapped::each({x}, alone);
    return {m[0], m[1]};
  }
  const std::int64_t n = x.size(0), channels = x.size(-1);
  const Shape shape = image_shape(n, counts_of(axes), channels);
  WindowMaxima y{full(shape, -std::numeric_limits<double>::infinity(), x.dtype()),
                 full(shape, -1, i64)};
  if (y.values.count() == 0) return y;
  const Tensor source = contiguous(x);
  const std::int64_t windows = y.values.count() / n / channels, image = x.count() / n;
  visit_floating("window_maxima", x.dtype(), [&]<class T>() {
    const T* from = source.data<T>();
    T* values = y.values.mutable_data<T>();
    std::int64_t* indices = y.indices.mutable_data<std::int64_t>();
    for_windows(n, windows, channels, [&](std::int64_t i) {
      T* best = values + i * channels;
      std::int64_t* where = indices + i * channels;
      each_in_window(axes, i % windows, [&](std::int64_t at) {
        const T* seen = from + i / windows * image + at * channels;
        for (std::int64_t c = 0; c < channels; ++c) {
          const bool nan = seen[c] != seen[c] && best[c] == best[c];
          const bool better = seen[c] > best[c] || nan || where[c] < 0;
          best[c] = better ? seen[c] : best[c];
          where[c] = better ? at : where[c];
        }
      });
    });
  });
  return y;
}

Tensor pick_at(const Tensor& x, const Tensor& indices) {
  if (mapped::any(x, indices)) {
    const auto alone = [&](const auto& of) { return std::vector{pick_at(of[0], of[1])}; };
    return mapped::each({x, indices}, alone)[0];
  }
  const std::int64_t n = x.size(0), channels = x.size(-1);
  Tensor y = zeros(indices.shape(), x.dtype());
  if (y.count() == 0) return y;
  const Tensor source = contiguous(x);
  const std::int64_t windows = y.count() / n / channels, image = x.count() / n;
  const std::int64_t* where = indices.data<std::int64_t>();
  visit_floating("pick_at", x.dtype(), [&]<class T>() {
    const T* from = source.data<T>();
    T* to = y.mutable_data<T>();
    for_windows(n, windows, channels, [&](std::int64_t i) {
      for (std::int64_t j = i * channels, c = 0; c < channels; ++c, ++j)
        if (where[j] >= 0) to[j] = from[i / windows * image + where[j] * channels + c];
    });
  });
  return y;
}

Tensor add_at(const Tensor& g, const Tensor& indices, const Shape& positions) {
  if (mapped::any(g, indices)) {
    const auto alone = [&](const auto& of) { return std::vector{add_at(of[0], of[1], positions)}; };
    return mapped::each({g, indices}, alone)[0];
  }
  const std::int64_t n = g.size(0), channels = g.size(-1);
  Tensor y = zeros(image_shape(n, positions, channels), g.dtype());
  if (y.count() == 0 || g.count() == 0) return y;
  const Tensor source = contiguous(g);
  const std::int64_t windows = g.count() / n / channels, image = y.count() / n;
  const std::int64_t* where = indices.data<std::int64_t>();
  visit_floating("add_at", g.dtype(), [&]<class T>() {
    const T* from = source.data<T>();
    T* to = y.mutable_data<T>();
    for_images(n, windows, channels, [&](std::int64_t i) {
      for (std::int64_t j = i * channels, c = 0; c < channels; ++c, ++j)
        if (where[j] >= 0) to[i / windows * image + where[j] * channels + c] += from[j];
    });
  });
  return y;
}

}  // namespace ladon::kernels
