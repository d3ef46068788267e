// Random calls of convolution and pooling.

#include <algorithm>

#include "ladon/optim/extra/extra.h"
#include "table.h"

namespace ladon::test {
namespace {

/// Sizes of a call: 1 to 3 axes of positions, and windows that fit them, mostly.
struct Sizes {
  explicit Sizes(Draw& d) : n(d.below(3)), channels(d.below(4)) {
    for (std::int64_t a = d.one_of<std::int64_t>({1, 1, 2, 2, 3}); a > 0; --a) {
      positions.append(d.below(6));
      window.append(d.around(1, 3));
    }
  }
  Shape with(const Shape& middle, std::int64_t first, std::int64_t last) const {
    Shape shape = middle;
    shape.insert(0, first);
    shape.append(last);
    return shape;
  }
  std::int64_t n, channels;
  Shape positions, window;
};

/// A number per axis, or none; sometimes one too many.
Shape numbers(Draw& d, const Sizes& s, std::int64_t low, std::int64_t high) {
  Shape list;
  if (d.chance(0.6)) return list;
  const int axes = d.chance(0.95) ? s.window.rank() : static_cast<int>(d.below(4));
  for (int a = 0; a < axes; ++a) list.append(d.around(low, high));
  return list;
}

WindowOptions window_options(Draw& d, const Sizes& s) {
  return {.stride = numbers(d, s, 1, 3),
          .before = numbers(d, s, 0, 2),
          .after = numbers(d, s, 0, 2),
          .dilation = numbers(d, s, 1, 2)};
}

Tensor image(Draw& d, const Sizes& s) { return d.near(s.with(s.positions, s.n, s.channels)); }

/// A window that can be allocated as a part of a weight.
Shape taps(Draw& d, const Sizes& s) {
  Shape shape = s.window;
  for (std::int64_t& size : shape)
    if (size < 0 || size > 8) size = d.below(4);
  return shape;
}

Tensor convolve(Draw& d) {
  const Sizes s(d);
  const WindowOptions w = window_options(d, s);
  const std::int64_t groups = d.chance(0.7) ? 1 : d.around(1, 3), out = d.below(4);
  const std::int64_t seen = groups > 0 ? s.channels / groups : s.channels;
  const Tensor x = image(d, s), weight = d.near(s.with(taps(d, s), out, seen));
  return convolution(x, weight, d.flag() ? d.near({out}) : Tensor(),
                     {w.stride, w.before, w.after, w.dilation, groups});
}

Tensor convolve_transposed(Draw& d) {
  const Sizes s(d);
  const WindowOptions w = window_options(d, s);
  const std::int64_t groups = d.chance(0.7) ? 1 : d.around(1, 3), out = d.below(3);
  const Tensor x = image(d, s), weight = d.near(s.with(taps(d, s), s.channels, out));
  return transposed_convolution(
      x, weight, d.flag() ? d.near({detail::checked_product("bias", out, groups)}) : Tensor(),
      {w.stride, w.before, w.after, w.dilation, numbers(d, s, 0, 1), groups});
}

}  // namespace

void add_window_calls(CallTable& table) {
  table.add("convolution", convolve, 2);
  table.add("transposed_convolution", convolve_transposed, 2);
  table.add("unfold", [](Draw& d) {
    const Sizes s(d);
    return unfold(image(d, s), s.window, window_options(d, s));
  });
  table.add("fold", [](Draw& d) {
    const Sizes s(d);
    Shape counts = s.positions;
    if (d.chance(0.8))
      for (int a = 0; a < counts.rank(); ++a) counts[a] = std::max<std::int64_t>(1, counts[a]);
    Shape positions = counts;
    for (int a = 0; a < counts.rank() && d.chance(0.9); ++a) positions[a] += s.window[a] % 8 - 1;
    const std::int64_t taps = s.window.count() % 64;
    const Tensor x = d.near(s.with(counts, s.n, taps * s.channels));
    return fold(x, positions, s.window, d.chance(0.7) ? WindowOptions() : window_options(d, s));
  });
  table.add("max_pool", [](Draw& d) {
    const Sizes s(d);
    return max_pool(image(d, s), s.window, window_options(d, s));
  });
  table.add("max_pool_with_indices", [](Draw& d) {
    const Sizes s(d);
    return max_pool_with_indices(image(d, s), s.window, window_options(d, s));
  });
  table.add("average_pool", [](Draw& d) {
    const Sizes s(d);
    const WindowOptions w = window_options(d, s);
    AveragePoolOptions o{w.stride, w.before, w.after, w.dilation, d.flag()};
    if (d.chance(o.count_padding ? 0.04 : 0.4)) o.divisor = d.number();
    return average_pool(image(d, s), s.window, o);
  });
  table.add("adaptive_max_pool", [](Draw& d) {
    const Sizes s(d);
    return adaptive_max_pool(image(d, s), s.window);
  });
  table.add("adaptive_average_pool", [](Draw& d) {
    const Sizes s(d);
    return adaptive_average_pool(image(d, s), s.window);
  });
}

}  // namespace ladon::test
