#include "ladon/layers/window.h"

#include <algorithm>
#include <array>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/names.h"

namespace ladon {
namespace {

constexpr std::array<std::string_view, 3> padding_names = {"valid", "same", "circular"};

/// Positions put around n of them.
std::int64_t lacking(const Window& w, std::int64_t n) {
  if (w.padding == Padding::valid) return 0;
  const std::int64_t behind = n - (w.count(n) - 1) * w.stride;  // from the last window on
  return std::max<std::int64_t>(w.size - behind, 0);
}

}  // namespace

Padding padding_from_name(std::string_view name) {
  return static_cast<Padding>(index_of_name("padding", name, padding_names));
}

std::string_view to_string(Padding padding) {
  return padding_names[static_cast<std::size_t>(padding)];
}

std::int64_t Window::count(std::int64_t n) const {
  LADON_CHECK(n > 0 && (padding == Padding::same || size <= n), "window", "a window of ", size,
              " does not fit on ", n, " positions");
  return padding == Padding::valid ? (n - size) / stride + 1 : (n - 1) / stride + 1;
}

std::int64_t Window::before(std::int64_t n) const { return lacking(*this, n) / 2; }

std::vector<Window> windows_of(std::string_view operation, const Shape& size, const Shape& stride,
                               Padding padding) {
  LADON_CHECK(size.rank() > 0, operation, "needs the size of a window for each axis of positions");
  LADON_CHECK(stride.rank() == 0 || stride.rank() == size.rank(), operation, "got ", size.rank(),
              " window sizes but ", stride.rank(), " strides");
  std::vector<Window> windows;
  for (int i = 0; i < size.rank(); ++i) {
    const std::int64_t step = stride.rank() == 0 ? 1 : stride[i];
    LADON_CHECK(size[i] > 0 && step > 0, operation,
                "window sizes and strides must be positive, got ", size, " and ", stride);
    windows.push_back({size[i], step, padding});
  }
  return windows;
}

Shape window_counts(std::string_view operation, const std::vector<Window>& windows,
                    const Shape& positions, bool masked) {
  LADON_CHECK(positions.rank() == static_cast<int>(windows.size()), operation, "has windows over ",
              windows.size(), " axes, the inputs have positions ", positions);
  Shape counts;
  for (std::size_t i = 0; i < windows.size(); ++i)
    counts.append(windows[i].count(positions[static_cast<int>(i)]));
  LADON_CHECK(
      !masked || counts == positions, operation, "makes positions ", counts, " of ", positions,
      ", but the inputs have a mask, and later layers would need one for the new positions");
  return counts;
}

std::string describe(const std::vector<Window>& windows) {
  Shape sizes, strides;
  for (const Window& w : windows) {
    sizes.append(w.size);
    strides.append(w.stride);
  }
  return detail::join(sizes, ", stride ", strides, ", ", to_string(windows[0].padding));
}

Tensor surround(const Tensor& x, int axis, const Window& window) {
  const int a = normalize_axis("surround", axis, x.rank());
  const std::int64_t n = x.size(a), before = window.before(n), after = lacking(window, n) - before;
  if (before + after == 0) return x;
  if (window.padding == Padding::circular)
    return concat({slice(x, a, {.start = n - before}), x, slice(x, a, {.stop = after})}, a);
  std::vector<std::int64_t> front(static_cast<std::size_t>(x.rank())), back = front;
  front[static_cast<std::size_t>(a)] = before;
  back[static_cast<std::size_t>(a)] = after;
  return pad(x, front, back);
}

Tensor tap(const Tensor& x, int axis, const Window& window, std::int64_t count,
           std::int64_t index) {
  return slice(
      x, axis,
      {.start = index, .stop = index + (count - 1) * window.stride + 1, .step = window.stride});
}

Tensor zero_masked(std::string_view operation, const Tensor& x, const Tensor& mask) {
  if (!mask.defined()) return x;
  const Shape wanted = {x.size(0), x.shape().sub(1, x.rank() - 1).count()};
  LADON_CHECK(mask.dtype() == boolean && mask.shape() == wanted, operation, "mask must be bool ",
              wanted, ", got ", mask.dtype(), " ", mask.shape());
  Shape spread = x.shape();
  spread[spread.rank() - 1] = 1;
  return masked_fill(x, logical_not(reshape(mask, spread)), 0);
}

Tensor window_sums(const Tensor& x, int axis, const Window& window) {
  const std::int64_t n = x.size(axis), count = window.count(n), before = window.before(n);
  const Tensor around = surround(x, axis, window);
  // Taps at which no window sees a position have nothing to add.
  const std::int64_t first = std::max<std::int64_t>(0, before - (count - 1) * window.stride);
  const std::int64_t last = std::min(window.size, before + n);
  Tensor y = tap(around, axis, window, count, first);
  for (std::int64_t i = first + 1; i < last; ++i) y = y + tap(around, axis, window, count, i);
  return y;
}

}  // namespace ladon
