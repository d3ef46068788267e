#include "ladon/layers/extra/images/window.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/names.h"
#include "ladon/core/unread.h"

namespace ladon {
namespace {

constexpr std::array<std::string_view, 3> padding_names = {"valid", "same", "circular"};

/// Number of positions by which the last window exceeds n positions.
std::int64_t lacking(const SlidingWindow& w, std::int64_t n) {
  const std::int64_t behind = n - (w.count(n) - 1) * w.stride;  // from the last window's start on
  return std::max<std::int64_t>(w.extent() - behind, 0);
}

/// Throws Error unless the list is empty or has one number per axis, each at least `least`.
void check_list(std::string_view operation, const char* what, const Shape& list, int axes,
                std::int64_t least) {
  LADON_CHECK(list.rank() == 0 || list.rank() == axes, operation,
              "the lists of options need one number per axis of positions, but there are ", axes,
              " window sizes and ", list.rank(), " ", what);
  for (const std::int64_t number : list)
    LADON_CHECK(number >= least, operation, what,
                least > 0 ? " must be positive, got " : " must not be negative, got ", list);
}

}  // namespace

Padding padding_from_name(std::string_view name) {
  return static_cast<Padding>(index_of_name("padding", name, padding_names));
}

std::string_view to_string(Padding padding) {
  return padding_names[static_cast<std::size_t>(padding)];
}

std::int64_t SlidingWindow::extent() const {
  return dilation == 1 ? size : detail::checked_product("window", size - 1, dilation) + 1;
}

std::int64_t SlidingWindow::count(std::int64_t n) const {
  LADON_CHECK(size > 0 && stride > 0 && dilation > 0, "window",
              "size, stride and dilation must be positive, got ", size, ", ", stride, " and ",
              dilation);
  LADON_CHECK(in_front >= 0 && behind >= 0, "window",
              "in_front and behind, the numbers of zeros, must not be negative, got ", in_front,
              " and ", behind);
  if (padding != Padding::valid)
    for (const auto& [side, zeros] : {std::pair("in_front", in_front), {"behind", behind}})
      detail::check_unread("window", side, zeros, 0,
                           "only `valid` padding has given zeros; set padding to Padding::valid");
  const std::int64_t room =
      detail::checked_sum("window", n, detail::checked_sum("window", in_front, behind));
  LADON_CHECK(n > 0, "window", "needs at least one position, got ", n);
  LADON_CHECK(padding == Padding::same || extent() <= room, "window", "a window of ", size,
              dilation == 1 ? "" : detail::join(" (dilated to ", extent(), ")"),
              " does not fit on ", n, " positions",
              room == n ? "" : detail::join(" and ", room - n, " zeros"),
              "; take a smaller window, or Padding::same");
  return padding == Padding::valid ? (room - extent()) / stride + 1 : (n - 1) / stride + 1;
}

std::int64_t SlidingWindow::before(std::int64_t n) const {
  return padding == Padding::valid ? in_front : lacking(*this, n) / 2;
}

std::int64_t SlidingWindow::after(std::int64_t n) const {
  return padding == Padding::valid ? behind : lacking(*this, n) - before(n);
}

std::vector<SlidingWindow> detail::windows_of(std::string_view operation, const WindowSizes& s) {
  const int axes = s.size.rank();
  LADON_CHECK(axes > 0, operation,
              "needs the size of a window for each axis of positions, got none");
  check_list(operation, "sizes", s.size, axes, 1);
  check_list(operation, "strides", s.stride, axes, 1);
  check_list(operation, "dilations", s.dilation, axes, 1);
  check_list(operation, "zeros before", s.before, axes, 0);
  check_list(operation, "zeros after", s.after, axes, 0);
  const bool numbers = s.before.rank() > 0 || s.after.rank() > 0;
  LADON_CHECK(!numbers || s.padding != Padding::circular, operation, "padding is ",
              to_string(s.padding), ", but zeros before ", s.before, " and after ", s.after,
              " are given, which take its place; leave before and after empty, or padding at its "
              "default");
  const Shape& after = s.after.rank() > 0 ? s.after : s.before;
  std::vector<SlidingWindow> windows;
  for (int i = 0; i < axes; ++i)
    windows.push_back({.size = s.size[i],
                       .stride = s.stride.rank() == 0 ? 1 : s.stride[i],
                       .padding = numbers ? Padding::valid : s.padding,
                       .dilation = s.dilation.rank() == 0 ? 1 : s.dilation[i],
                       .in_front = s.before.rank() == 0 ? 0 : s.before[i],
                       .behind = numbers ? after[i] : 0});
  return windows;
}

int detail::axes_of(std::string_view operation, const std::vector<SlidingWindow>& windows) {
  LADON_CHECK(!windows.empty(), operation,
              "has no windows: it was moved from; use the object that it was moved to");
  return static_cast<int>(windows.size());
}

Shape detail::sizes_of(const std::vector<SlidingWindow>& windows) {
  Shape sizes;
  for (const SlidingWindow& w : windows) sizes.append(w.size);
  return sizes;
}

std::string detail::channels_hint(const Tensor& x, int axes, std::int64_t channels) {
  if (x.rank() == axes + 1 && x.size(-1) != channels && x.size(0) == channels)
    return axes == 1 ? "; channels come last, after a batch axis: unsqueeze(transpose(x), 0)"
                     : "; channels come last, after a batch axis: unsqueeze(permute(x, {1, 2, 0}), "
                       "0)";
  if (x.rank() == axes + 1) return "; give it a batch axis: unsqueeze(x, 0)";
  if (x.rank() != axes + 2 || x.size(1) != channels) return "";
  return axes == 1 ? "; channels come last: permute(x, {0, 2, 1})"
                   : "; channels come last: permute(x, {0, 2, 3, 1})";
}

Shape detail::window_counts(std::string_view operation, const std::vector<SlidingWindow>& windows,
                            const Shape& positions, bool masked) {
  LADON_CHECK(positions.rank() == axes_of(operation, windows), operation, "has windows over ",
              windows.size(), " axes, but the inputs have positions ", positions);
  Shape counts;
  for (std::size_t i = 0; i < windows.size(); ++i)
    if (const std::int64_t n = positions[static_cast<int>(i)]; n < 0)
      counts.append(-1);
    else
      counts.append(windows[i].count(n));
  LADON_CHECK(!masked || counts == positions, operation, "makes positions ", counts, " of ",
              positions,
              ", but with a mask the number of positions must not change: later layers would need "
              "a mask of the new positions");
  return counts;
}

std::string describe(const std::vector<SlidingWindow>& windows) {
  if (windows.empty()) return "no windows";  // the layer was moved from
  Shape sizes, strides, dilations, before, after;
  for (const SlidingWindow& w : windows) {
    sizes.append(w.size);
    strides.append(w.stride);
    dilations.append(w.dilation);
    before.append(w.in_front);
    after.append(w.behind);
  }
  const Shape none = Shape::filled(sizes.rank(), 0), ones = Shape::filled(sizes.rank(), 1);
  std::string text = detail::join(sizes, ", stride ", strides, ", ");
  text += before == none && after == none ? std::string(to_string(windows[0].padding))
                                          : detail::join("zeros ", before, " and ", after);
  return dilations == ones ? text : detail::join(text, ", dilation ", dilations);
}

Tensor detail::surround(const Tensor& x, int axis, const SlidingWindow& window) {
  const int a = detail::normalize_axis("surround", axis, x.rank());
  const std::int64_t n = x.size(a), before = window.before(n), after = window.after(n);
  if (before + after == 0) return x;
  if (window.padding == Padding::circular)
    return concat({slice(x, a, {.start = n - before}), x, slice(x, a, {.stop = after})}, a);
  std::vector<std::int64_t> front(static_cast<std::size_t>(x.rank())), back = front;
  front[static_cast<std::size_t>(a)] = before;
  back[static_cast<std::size_t>(a)] = after;
  return pad(x, front, back);
}

detail::Surrounded detail::surround(const Tensor& x, const std::vector<SlidingWindow>& windows) {
  detail::Surrounded s{x, {}};
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const SlidingWindow& w = windows[i];
    const int axis = 1 + static_cast<int>(i);
    const bool ring = w.padding == Padding::circular;
    s.options.stride.append(w.stride);
    s.options.dilation.append(w.dilation);
    s.options.before.append(ring ? 0 : w.before(x.size(axis)));
    s.options.after.append(ring ? 0 : w.after(x.size(axis)));
    if (ring) s.x = detail::surround(s.x, axis, w);
  }
  return s;
}

Tensor detail::tap(const Tensor& x, int axis, const SlidingWindow& window, std::int64_t count,
                   std::int64_t index) {
  const std::int64_t start = index * window.dilation;
  return slice(
      x, axis,
      {.start = start, .stop = start + (count - 1) * window.stride + 1, .step = window.stride});
}

Tensor detail::window_sums(const Tensor& x, int axis, const SlidingWindow& window) {
  const std::int64_t n = x.size(axis), count = window.count(n), before = window.before(n);
  const Tensor around = detail::surround(x, axis, window);
  // Taps at which no window sees a position add nothing, and are skipped.
  const auto taps_within = [&](std::int64_t distance) {
    return distance <= 0 ? 0 : (distance - 1) / window.dilation + 1;
  };
  const std::int64_t skipped = taps_within(before - (count - 1) * window.stride);
  const std::int64_t first = std::min(skipped, window.size - 1);
  const std::int64_t last = std::min(window.size, taps_within(before + n));
  Tensor y = tap(around, axis, window, count, first);
  for (std::int64_t i = first + 1; i < last; ++i) y = y + tap(around, axis, window, count, i);
  return y;
}

}  // namespace ladon
