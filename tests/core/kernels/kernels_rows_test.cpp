// Softmax and normalization against their definitions, in double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/norm.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/kernels/reductions/softmax.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::kernels::kernels_rows_test {
namespace {

using layout::element;
using layout::layouts;
using layout::same_bits;
using layout::sample;

constexpr double inf = std::numeric_limits<double>::infinity();
using Row = std::vector<double>;

// Row-major places of the elements of each line along an axis.
std::vector<std::vector<std::int64_t>> lines(const Shape& shape, int axis) {
  const std::int64_t inner = shape.sub(axis + 1, shape.rank()).count(), n = shape[axis];
  std::vector<std::vector<std::int64_t>> all;
  for (std::int64_t o = 0; o < shape.sub(0, axis).count(); ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      all.emplace_back();
      for (std::int64_t j = 0; j < n; ++j) all.back().push_back((o * n + j) * inner + i);
    }
  return all;
}

Row softmax_of(const Row& x) {
  Row y;
  double sum = 0, top = *std::max_element(x.begin(), x.end());
  for (double v : x) sum += std::exp(v - top);
  for (double v : x) y.push_back(std::exp(v - top) / sum);
  return y;
}

double logsumexp_of(const Row& x) {
  double sum = 0, top = *std::max_element(x.begin(), x.end());
  for (double v : x) sum += std::exp(v - top);
  return top + std::log(sum);
}

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Row pick(const Tensor& x, const std::vector<std::int64_t>& line) {
  Row row;
  for (std::int64_t i : line) row.push_back(element(x, i));
  return row;
}

// Holds y against want(rows of the inputs...) along an axis.
template <class Want, class... Inputs>
void expect_lines(const Tensor& y, int axis, double tolerance, Want want, const Inputs&... x) {
  for (const auto& line : lines(y.shape(), axis)) {
    const Row expected = want(pick(x, line)...), got = pick(y, line);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], tolerance * std::fmax(1, std::fabs(expected[i])));
  }
}

TEST(KernelsSoftmax, FamilyOnEveryLayoutAndAxis) {
  for (DType dtype : {f32, f64})
    for (const Tensor& x : layouts(sample({3, 5, 34}, dtype)))
      for (int axis = 0; axis < 3; ++axis) {
        const double tolerance = dtype == f32 ? 2e-6 : 1e-14;
        const Tensor y = softmax(x, axis), z = log_softmax(x, axis - 3), s = logsumexp(x, axis);
        ASSERT_TRUE(y.contiguous() && y.shape() == x.shape() && y.dtype() == dtype);
        expect_lines(y, axis, tolerance, softmax_of, x);
        const auto log_softmax_of = [](Row row) {
          const double sum = logsumexp_of(row);
          for (double& v : row) v -= sum;
          return row;
        };
        expect_lines(z, axis, tolerance, log_softmax_of, x);
        ASSERT_EQ(s.size(axis), 1);
        std::int64_t i = 0;
        for (const auto& line : lines(x.shape(), axis))
          ASSERT_NEAR(element(s, i++), logsumexp_of(pick(x, line)), 4 * tolerance);
      }
}

TEST(KernelsSoftmax, LongRows) {
  const Tensor x = sample({2, 5000}, f64);
  expect_lines(softmax(x, 1), 1, 1e-14, softmax_of, x);
  EXPECT_NEAR(element(logsumexp(x, 1), 1), logsumexp_of(pick(x, lines(x.shape(), 1)[1])), 1e-13);
}

TEST(KernelsSoftmax, GradientsOnEveryLayoutAndAxis) {
  for (const Tensor& g : layouts(sample({3, 5, 34}, f64)))
    for (int axis = 0; axis < 3; ++axis) {
      const Tensor x = sample({3, 5, 34}, f64, 2), y = softmax(x, axis), z = log_softmax(x, axis);
      const auto of_softmax = [](const Row& gr, const Row& yr) {
        Row dx;
        for (std::size_t i = 0; i < gr.size(); ++i) dx.push_back(yr[i] * (gr[i] - dot(gr, yr)));
        return dx;
      };
      const auto of_log_softmax = [](const Row& gr, const Row& yr) {
        Row dx;
        for (std::size_t i = 0; i < gr.size(); ++i)
          dx.push_back(gr[i] - std::exp(yr[i]) * dot(gr, Row(gr.size(), 1)));
        return dx;
      };
      expect_lines(softmax_backward(g, y, axis), axis, 1e-13, of_softmax, g, y);
      expect_lines(log_softmax_backward(g, z, axis), axis, 1e-13, of_log_softmax, g, z);
    }
}

// Several tiles of lines, and one that is not full.
TEST(KernelsSoftmax, LinesHaveTheBitsOfRows) {
  const Tensor x = sample({3, 300, 70}), g = sample({3, 300, 70}, f32, 2);
  const auto turned = [](const Tensor& u) { return contiguous(view::transpose(u, 1, 2)); };
  const Tensor rows = turned(x), y = softmax(rows, 2);
  EXPECT_TRUE(same_bits(softmax(x, 1), turned(y)));
  EXPECT_TRUE(same_bits(logsumexp(x, 1), turned(logsumexp(rows, 2))));
  EXPECT_TRUE(
      same_bits(softmax_backward(g, turned(y), 1), turned(softmax_backward(turned(g), y, 2))));
}
TEST(KernelsSoftmax, RowsOfMinusInfinityAreNoNaN) {
  for (std::int64_t n : {1, 7, 40}) {
    const Tensor x = sample({2, n});
    fill(view::select(x, 0, 0), -inf);
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(element(softmax(x, 1), i), 0);
      EXPECT_EQ(element(log_softmax(x, 1), i), -inf);
      EXPECT_EQ(element(softmax_backward(sample({2, n}), softmax(x, 1), 1), i), 0);
    }
    EXPECT_EQ(element(logsumexp(x, 1), 0), -inf);
    EXPECT_TRUE(std::isfinite(element(logsumexp(x, 1), 1)));
  }
  const Tensor some = tensor({-inf, 0, -inf, 0});
  EXPECT_EQ(softmax(some, 0).to_vector<double>(), (Row{0, .5, 0, .5}));
}

TEST(KernelsSoftmax, LargeElementsDoNotOverflow) {
  const Tensor x = tensor({1e30, 1e30, -1e30});
  EXPECT_EQ(softmax(x, 0).to_vector<double>(), (Row{.5, .5, 0}));
  EXPECT_FLOAT_EQ(logsumexp(tensor({1000, 1000}), 0).item<float>(), 1000 + std::log(2.0f));
  EXPECT_EQ(logsumexp(tensor({inf, 0}), 0).item(), inf);
}

TEST(KernelsSoftmax, EmptyAxesAndErrors) {
  EXPECT_EQ(softmax(empty({2, 0}), 1).shape(), (Shape{2, 0}));
  EXPECT_EQ(log_softmax(empty({0, 2}), 1).shape(), (Shape{0, 2}));
  EXPECT_EQ(logsumexp(empty({2, 0}), 1).to_vector<double>(), (Row{-inf, -inf}));
  EXPECT_EQ(logsumexp(empty({0, 2}), 0).to_vector<double>(), (Row{-inf, -inf}));
  EXPECT_EQ(softmax_backward(empty({0, 2}), empty({0, 2}), 1).shape(), (Shape{0, 2}));
  EXPECT_THROW(softmax(sample({2, 3}), 2), Error);
  EXPECT_THROW(softmax(sample({2, 3}, i64), 1), Error);
  EXPECT_THROW(softmax(sample({}), 0), Error);
  EXPECT_THROW(softmax_backward(sample({2, 3}), sample({3, 2}), 1), Error);
  EXPECT_THROW(softmax_backward(sample({2, 3}), sample({2, 3}, f64), 1), Error);
}

// --- layer norm ---

struct Norm {
  Row h;
  double mean = 0, rstd = 0;
};

Norm norm_of(const Row& x, double eps) {
  Norm r;
  double variance = 0;
  const auto n = static_cast<double>(x.size());
  for (double v : x) r.mean += v / n;
  for (double v : x) variance += (v - r.mean) * (v - r.mean) / n;
  r.rstd = 1 / std::sqrt(variance + eps);
  for (double v : x) r.h.push_back((v - r.mean) * r.rstd);
  return r;
}

TEST(KernelsLayerNorm, ForwardOnEveryLayout) {
  for (DType dtype : {f32, f64})
    for (bool has_weight : {false, true})
      for (bool has_bias : {false, true})
        for (const Tensor& x : layouts(sample({3, 5, 34}, dtype))) {
          const Tensor w =
              has_weight ? layout::stepped_in_memory(sample({34}, dtype, 2), 0, -1) : Tensor();
          const Tensor b = has_bias ? sample({34}, dtype, 3) : Tensor();
          const LayerNormResult r = layer_norm(x, w, b, 1e-3);
          const double tolerance = dtype == f32 ? 3e-6 : 1e-13;
          ASSERT_EQ(r.mean.shape(), (Shape{3, 5, 1}));
          std::int64_t row = 0;
          expect_lines(
              r.y, 2, tolerance,
              [&](const Row& xr) {
                const Norm want = norm_of(xr, 1e-3);
                EXPECT_NEAR(element(r.mean, row), want.mean, tolerance);
                EXPECT_NEAR(element(r.rstd, row++), want.rstd, tolerance);
                Row y;
                for (std::size_t i = 0; i < xr.size(); ++i) {
                  const auto j = static_cast<std::int64_t>(i);
                  y.push_back(want.h[i] * (has_weight ? element(w, j) : 1) +
                              (has_bias ? element(b, j) : 0));
                }
                return y;
              },
              x);
        }
}

// dx against central differences of ⟨g, layer_norm(x)⟩; dweight = Σ g∘h, dbias = Σ g over rows.
TEST(KernelsLayerNorm, BackwardIsTheGradient) {
  const Tensor g = sample({40, 9}, f64, 4), w = sample({9}, f64, 2), b = sample({9}, f64, 3);
  for (const Tensor& x : layouts(sample({40, 9}, f64))) {
    const LayerNormResult r = layer_norm(x, w, b, 1e-3);
    const LayerNormGradients d = layer_norm_backward(g, x, r.mean, r.rstd, w, true);
    const auto objective = [&](const Tensor& input) {
      return reduce(Reduce::sum, binary(Binary::mul, g, layer_norm(input, w, b, 1e-3).y), {0, 1},
                    false)
          .item();
    };
    for (std::int64_t i = 0; i < x.count(); i += 13) {
      const Tensor up = clone(x), down = clone(x);
      layout::set_element(up, i, element(x, i) + 1e-5);
      layout::set_element(down, i, element(x, i) - 1e-5);
      EXPECT_NEAR(element(d.x, i), (objective(up) - objective(down)) / 2e-5, 1e-6);
    }
    for (std::int64_t c = 0; c < 9; ++c) {
      double weight = 0, bias = 0;
      for (std::int64_t row = 0; row < 40; ++row) {
        const double h = (element(x, row * 9 + c) - element(r.mean, row)) * element(r.rstd, row);
        weight += element(g, row * 9 + c) * h;
        bias += element(g, row * 9 + c);
      }
      EXPECT_NEAR(element(d.weight, c), weight, 1e-10);
      EXPECT_NEAR(element(d.bias, c), bias, 1e-10);
    }
  }
}

TEST(KernelsLayerNorm, WithoutWeightAndBias) {
  const Tensor x = sample({6, 20}, f64), g = sample({6, 20}, f64, 2);
  const LayerNormResult r = layer_norm(x, Tensor(), Tensor(), 1e-5);
  const LayerNormGradients plain = layer_norm_backward(g, x, r.mean, r.rstd, Tensor(), false);
  EXPECT_FALSE(plain.weight.defined() || plain.bias.defined());
  const LayerNormGradients ones =
      layer_norm_backward(g, x, r.mean, r.rstd, full({20}, 1, f64), true);
  for (std::int64_t i = 0; i < x.count(); ++i)
    EXPECT_NEAR(element(plain.x, i), element(ones.x, i), 1e-12);
}

TEST(KernelsLayerNorm, EmptyRowsAndErrors) {
  const Tensor w = sample({4});
  const LayerNormResult r = layer_norm(empty({0, 4}), w, w, 1e-5);
  EXPECT_EQ(r.mean.shape(), (Shape{0, 1}));
  const LayerNormGradients d =
      layer_norm_backward(empty({0, 4}), empty({0, 4}), r.mean, r.rstd, w, true);
  EXPECT_EQ(d.weight.to_vector<double>(), Row(4, 0.0));
  EXPECT_THROW(layer_norm(sample({3, 4}), sample({3}), Tensor(), 1e-5), Error);
  EXPECT_THROW(layer_norm(sample({3, 4}), Tensor(), sample({4}, f64), 1e-5), Error);
  EXPECT_THROW(layer_norm(sample({}), Tensor(), Tensor(), 1e-5), Error);
  EXPECT_THROW(layer_norm(sample({3, 4}, i64), Tensor(), Tensor(), 1e-5), Error);
}

TEST(KernelsRows, SameBitsAtOneAndTwoThreads) {
  const Tensor x = sample({700, 300}), g = sample({700, 300}, f32, 2), w = sample({300}, f32, 3);
  const int before = num_threads();
  const auto results = [&](int threads) {
    set_num_threads(threads);
    const LayerNormResult r = layer_norm(x, w, w, 1e-5);
    const LayerNormGradients d = layer_norm_backward(g, x, r.mean, r.rstd, w, true);
    const RmsNormResult rms = rms_norm(x, w, 1e-5);
    const LayerNormGradients of_rms = rms_norm_backward(g, x, rms.r, w);
    return std::vector{rms.y,
                       of_rms.x,
                       of_rms.weight,
                       softmax(x, 1),
                       softmax(x, 0),
                       log_softmax(x, 1),
                       logsumexp(x, 0),
                       softmax_backward(g, x, 1),
                       r.y,
                       r.rstd,
                       d.x,
                       d.weight,
                       d.bias};
  };
  const auto one = results(1), two = results(2);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], two[i])) << i;
  set_num_threads(before);
}

}  // namespace
}  // namespace ladon::kernels::kernels_rows_test
