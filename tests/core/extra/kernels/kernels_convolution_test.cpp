// Grouped convolutions, compared with plain loops in double precision.

#include <gtest/gtest.h>

#include <cmath>

#include "ladon/core/extra/kernels/windows/convolution.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::kernels::kernels_convolution_test {
namespace {

using std::int64_t;

/// A convolution of images [n, h, w, groups·in] in groups.
struct Case {
  int64_t n, groups, in, out;
  Windows windows;
  Tensor x, weight, bias, g;

  Case(Generator& rng, DType dtype) {
    const auto pick = [&](int64_t low, int64_t high) {
      return randint({1}, rng, double(low), double(high + 1)).item<int64_t>();
    };
    n = pick(1, 3);
    in = int64_t{1} << pick(0, 4);
    out = pick(0, 3) > 0 ? in : pick(1, 4);
    groups = pick(2, 40 / in + 2);
    for (int axis = 0; axis < 2; ++axis) {
      const int64_t size = pick(1, 4), dilation = pick(1, 2), stride = pick(1, 3);
      const int64_t before = pick(0, dilation * size), after = pick(0, 2);
      const int64_t positions = dilation * (size - 1) + pick(1, 12);
      windows.positions.append(positions);
      windows.size.append(size);
      windows.dilation.append(dilation);
      windows.stride.append(stride);
      windows.before.append(before);
      windows.counts.append((positions + before + after - dilation * (size - 1) - 1) / stride + 1);
    }
    x = normal(image_shape(n, windows.positions, groups * in), rng, 0, 1, dtype);
    weight = normal(image_shape(groups * out, windows.size, in), rng, 0, 1, dtype);
    bias = normal({groups * out}, rng, 0, 1, dtype);
    g = normal(image_shape(n, windows.counts, groups * out), rng, 0, 1, dtype);
  }

  /// each(place in x, in weight, in g) for the terms of ⟨g, convolution(x, weight)⟩.
  template <class Each>
  void terms(const Each& each) const {
    const Windows& s = windows;
    const int64_t taps = s.size.count(), outputs = groups * out;
    for (int64_t at = 0; at < n * s.counts.count() * taps * outputs * in; ++at) {
      const int64_t q = at % in, o = at / in % outputs, tap = at / in / outputs % taps;
      const int64_t window = at / in / outputs / taps, of_image = window % s.counts.count();
      const int64_t image = window / s.counts.count();
      const int64_t row =
          of_image / s.counts[1] * s.stride[0] - s.before[0] + tap / s.size[1] * s.dilation[0];
      const int64_t column =
          of_image % s.counts[1] * s.stride[1] - s.before[1] + tap % s.size[1] * s.dilation[1];
      if (row < 0 || row >= s.positions[0] || column < 0 || column >= s.positions[1]) continue;
      each(((image * s.positions[0] + row) * s.positions[1] + column) * groups * in + o / out * in +
               q,
           (o * taps + tap) * in + q, window * outputs + o);
    }
  }
};

void expect_near(const Tensor& y, const std::vector<double>& want, double room) {
  const std::vector<double> got = y.to_vector();
  ASSERT_EQ(got.size(), want.size());
  double worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    worst = std::max(worst, std::abs(got[i] - want[i]) / (1 + std::abs(want[i])));
  EXPECT_LT(worst, room);
}

TEST(KernelsConvolution, InGroupsIsThatOfPlainLoops) {
  Generator rng(1);
  for (int i = 0; i < 120; ++i) {
    const DType dtype = i % 2 == 0 ? f32 : f64;
    const Case c(rng, dtype);
    SCOPED_TRACE(detail::join(c.groups, " groups of ", c.in, " to ", c.out, ", windows of ",
                              c.windows.size, ", strides ", c.windows.stride));
    const double room = dtype == f32 ? 1e-4 : 1e-12;
    const std::vector<double> x = c.x.to_vector(), w = c.weight.to_vector(), g = c.g.to_vector(),
                              b = c.bias.to_vector();
    std::vector<double> y(g.size()), dx(x.size()), dw(w.size());
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = b[k % b.size()];
    c.terms([&](int64_t in_x, int64_t in_w, int64_t in_g) {
      const auto p = std::size_t(in_x), q = std::size_t(in_w), r = std::size_t(in_g);
      y[r] += x[p] * w[q];
      dx[p] += g[r] * w[q];
      dw[q] += g[r] * x[p];
    });
    const auto all = [&] {
      return std::vector{convolution(c.x, c.weight, c.bias, c.windows, c.groups),
                         convolution_by_input(c.g, c.weight, c.windows, c.groups),
                         convolution_by_weight(c.x, c.g, c.windows, c.groups)};
    };
    const std::vector<Tensor> got = all();
    expect_near(got[0], y, room);
    expect_near(got[1], dx, room);
    expect_near(got[2], dw, room);
    const int before = num_threads();
    set_num_threads(3);
    const std::vector<Tensor> again = all();
    set_num_threads(before);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(layout::same_bits(got[k], again[k]));
  }
}

}  // namespace
}  // namespace ladon::kernels::kernels_convolution_test
