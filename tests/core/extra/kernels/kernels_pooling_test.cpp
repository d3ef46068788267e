// Pooling over random windows, compared with a loop over the windows.

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "ladon/core/extra/kernels/windows/pooling.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::kernels::kernels_pooling_test {
namespace {

using layout::element;
using layout::same_bits;
using layout::sample;
using layout::set_element;
using std::int64_t;

struct Draw {
  std::mt19937_64 random;
  int64_t below(int64_t n) {
    return static_cast<int64_t>(random() % static_cast<std::uint64_t>(n));
  }

  PoolingAxes axes() {
    PoolingAxes all;
    for (int64_t a = 1 + below(3); a > 0; --a) {
      PoolingAxis axis{.positions = 1 + below(a == 1 ? 20 : 6), .count = 1 + below(5)};
      if (below(4) > 0) {  // else windows that cut the axis evenly
        axis.size = 1 + below(axis.positions + 2);
        axis.stride = 1 + below(3);
        axis.dilation = 1 + below(3);
        axis.before = below(3);
      }
      all.push_back(axis);
    }
    return all;
  }
};

/// The positions that a window sees, in row-major order.
std::vector<int64_t> seen(const PoolingAxes& axes, int64_t window) {
  std::vector<int64_t> index(axes.size()), places{0};
  for (std::size_t a = axes.size(); a-- > 0; window /= axes[a].count)
    index[a] = window % axes[a].count;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const Span span = axes[a].span(index[a]);
    std::vector<int64_t> more;
    for (const int64_t place : places)
      for (int64_t at = span.first; at < span.stop; at += span.step)
        more.push_back(place * axes[a].positions + at);
    places = more;
  }
  return places;
}

/// Few values, so that there are ties, and NaN.
Tensor with_ties(const Shape& shape, DType dtype, Draw& draw) {
  Tensor x = empty(shape, dtype);
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t v = draw.below(9);
    set_element(x, i, v == 0 ? NAN : v == 1 ? -INFINITY : static_cast<double>(v % 4));
  }
  return x;
}

struct Pooled {
  Tensor sums, values, indices;
};
Pooled one_by_one(const Tensor& x, const PoolingAxes& axes, const Shape& shape) {
  const int64_t n = x.size(0), channels = x.size(-1), windows = shape.count() / n / channels;
  const int64_t image = x.count() / n;
  Pooled y{zeros(shape, x.dtype()), full(shape, -INFINITY, x.dtype()), full(shape, -1, i64)};
  for (int64_t i = 0; i < shape.count(); ++i)
    for (const int64_t place : seen(axes, i / channels % windows)) {
      const double v = element(x, i / channels / windows * image + place * channels + i % channels);
      const double sum = element(y.sums, i) + v, best = element(y.values, i);
      set_element(y.sums, i, sum);
      if (!(v > best || (v != v && best == best) || element(y.indices, i) < 0)) continue;
      set_element(y.values, i, v);
      set_element(y.indices, i, static_cast<double>(place));
    }
  return y;
}

TEST(KernelsPooling, IsWhatEachWindowSees) {
  Draw draw{std::mt19937_64(1)};
  for (int i = 0; i < 150; ++i) {
    const PoolingAxes axes = draw.axes();
    const int64_t widths[] = {1, 3, 4, 16, 21, 70}, channels = widths[draw.below(6)];
    Shape from{1 + draw.below(2)}, to{from};
    for (const PoolingAxis& axis : axes) from.append(axis.positions), to.append(axis.count);
    from.append(channels), to.append(channels);
    const DType dtype = i % 2 == 0 ? f32 : f64;
    const Tensor ties = with_ties(from, dtype, draw), x = sample(from, dtype);
    const WindowMaxima m = window_maxima(ties, axes);
    const Pooled want = one_by_one(ties, axes, to);
    EXPECT_TRUE(same_bits(m.values, want.values));
    EXPECT_TRUE(same_bits(m.indices, want.indices));
    EXPECT_TRUE(same_bits(window_sums(x, axes), one_by_one(x, axes, to).sums));
    // ⟨g, sums of x⟩ = ⟨spread g, x⟩, and so with what was picked.
    const Tensor g = sample(to, dtype, 2);
    const auto total = [](const Tensor& a, const Tensor& b) {
      double sum = 0;
      for (int64_t k = 0; k < a.count(); ++k) sum += element(a, k) * element(b, k);
      return sum;
    };
    EXPECT_EQ(total(g, window_sums(x, axes)), total(spread_window_sums(g, axes), x));
    const Shape positions = from.sub(1, from.rank() - 1);
    EXPECT_EQ(total(g, pick_at(x, m.indices)), total(add_at(g, m.indices, positions), x));
  }
}

// More positions than a list of them holds.
TEST(KernelsPooling, OfLongWindows) {
  for (const int64_t channels : {1, 5, 33}) {
    const PoolingAxes axes = {{.positions = 37, .count = 2}, {.positions = 41, .count = 1}};
    const Tensor x = sample({2, 37, 41, channels});
    const WindowMaxima m = window_maxima(x, axes);
    const Pooled want = one_by_one(x, axes, {2, 2, 1, channels});
    EXPECT_TRUE(same_bits(m.values, want.values));
    EXPECT_TRUE(same_bits(m.indices, want.indices));
    EXPECT_TRUE(same_bits(window_sums(x, axes), want.sums));
  }
}

}  // namespace
}  // namespace ladon::kernels::kernels_pooling_test
