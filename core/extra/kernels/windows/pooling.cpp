#include "ladon/core/extra/kernels/windows/pooling.h"

#include <algorithm>
#include <limits>

#include "ladon/core/extra/kernels/windows/patches.h"
#include "ladon/core/kernels/loops.h"
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

/// Finds the positions that each window sees.
class Seen {
 public:
  explicit Seen(const PoolingAxes& axes) : axes_(axes) {}

  /// Calls see(positions, count, first) for the positions of window `index`, counted in row-major
  /// order. The positions are passed in lists, in row-major order; `first` is true for the first
  /// list. A window that sees nothing has one list, with a count of 0.
  template <class See>
  void each(std::int64_t index, const See& see) {
    const PoolingAxis& last = axes_.back();
    const std::int64_t row = index / last.count;
    if (row != row_) find_lines(row);
    row_ = row;
    const Span span = last.span(index - row * last.count);
    std::int64_t count = 0;
    bool first = true;
    for (const std::int64_t line : lines_)
      for (std::int64_t at = span.first; at < span.stop; at += span.step) {
        if (count == longest) {
          see(list_, count, first);
          count = 0;
          first = false;
        }
        list_[count++] = line + at;
      }
    see(list_, count, first);
  }

 private:
  /// Finds the lines along the last axis that windows of row `row` see; a line is given by the
  /// index of its first position.
  void find_lines(std::int64_t row) {
    lines_.assign(1, 0);
    std::int64_t step = 1;
    for (std::size_t a = axes_.size() - 1; a-- > 0; row /= axes_[a].count) {
      step *= axes_[a + 1].positions;
      const Span span = axes_[a].span(row % axes_[a].count);
      std::vector<std::int64_t> all;
      for (std::int64_t at = span.first; at < span.stop; at += span.step)
        for (const std::int64_t line : lines_) all.push_back(at * step + line);
      lines_ = std::move(all);
    }
  }

  static constexpr std::int64_t longest = 256;
  const PoolingAxes& axes_;
  std::int64_t row_ = -1, list_[longest];
  std::vector<std::int64_t> lines_;
};

/// Calls body(begin, end) in parallel for ranges that together are all windows of n images. A range
/// may begin or end inside an image.
template <class Body>
void for_windows(std::int64_t n, std::int64_t windows, std::int64_t channels, const Body& body) {
  const std::int64_t grain = std::max<std::int64_t>(1, task_length / (8 * channels));
  parallel::for_range(n * windows, grain, body);
}

/// Calls body(begin, end) in parallel for ranges that together are all windows of n images. Ranges
/// consist of whole images, since windows of one image overlap.
template <class Body>
void for_images(std::int64_t n, std::int64_t windows, std::int64_t channels, const Body& body) {
  const std::int64_t grain = std::max<std::int64_t>(1, task_length / (windows * channels));
  parallel::for_range(n, grain, [&](std::int64_t begin, std::int64_t end) {
    body(begin * windows, end * windows);
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
    const auto sum = loops().of<T>().places.sum;
    for_windows(n, windows, channels, [&](std::int64_t begin, std::int64_t end) {
      Seen seen(axes);
      for (std::int64_t i = begin; i < end; ++i)
        seen.each(i % windows, [&](const std::int64_t* places, std::int64_t count, bool) {
          sum(from + i / windows * image, places, count, channels, to + i * channels);
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
    const auto spread = loops().of<T>().places.spread;
    for_images(n, windows, channels, [&](std::int64_t begin, std::int64_t end) {
      Seen seen(axes);
      for (std::int64_t i = begin; i < end; ++i)
        seen.each(i % windows, [&](const std::int64_t* places, std::int64_t count, bool) {
          spread(from + i * channels, places, count, channels, to + i / windows * image);
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
  WindowMaxima y{empty(shape, x.dtype()), empty(shape, i64)};
  if (y.values.count() == 0) return y;
  const Tensor source = contiguous(x);
  const std::int64_t windows = y.values.count() / n / channels, image = x.count() / n;
  visit_floating("window_maxima", x.dtype(), [&]<class T>() {
    const T* from = source.data<T>();
    T* values = y.values.mutable_data<T>();
    std::int64_t* indices = y.indices.mutable_data<std::int64_t>();
    const auto maximum = loops().of<T>().places.maximum;
    for_windows(n, windows, channels, [&](std::int64_t begin, std::int64_t end) {
      Seen seen(axes);
      for (std::int64_t i = begin; i < end; ++i)
        seen.each(i % windows, [&](const std::int64_t* places, std::int64_t count, bool first) {
          T* best = values + i * channels;
          std::int64_t* where = indices + i * channels;
          if (count > 0)
            return maximum(from + i / windows * image, places, count, first, channels, best, where);
          std::fill_n(best, channels, -std::numeric_limits<T>::infinity());
          std::fill_n(where, channels, -1);
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
    for_windows(n, windows, channels, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin, j = begin * channels; i < end; ++i) {
        const T* seen = from + i / windows * image;
        for (std::int64_t c = 0; c < channels; ++c, ++j)
          if (where[j] >= 0) to[j] = seen[where[j] * channels + c];
      }
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
    for_images(n, windows, channels, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin, j = begin * channels; i < end; ++i) {
        T* seen = to + i / windows * image;
        for (std::int64_t c = 0; c < channels; ++c, ++j)
          if (where[j] >= 0) seen[where[j] * channels + c] += from[j];
      }
    });
  });
  return y;
}

}  // namespace ladon::kernels
