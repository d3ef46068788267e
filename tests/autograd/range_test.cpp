// Norms, deviations and products where squares or products leave the range of the dtype though the
// result does not, and where data lie far from zero.

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

using Function = std::function<Tensor(const Tensor&)>;
using Values = std::vector<double>;

Tensor vector(std::initializer_list<double> values, DType dtype = f32) {
  return tensor(values, dtype);
}

void expect_close(const Tensor& got, const Tensor& want, double tolerance,
                  const std::string& what) {
  const Values a = got.to_vector(), b = want.to_vector();
  double largest = 0;
  ASSERT_EQ(a.size(), b.size()) << what;
  for (const double v : b) largest = std::max(largest, std::fabs(v));
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], tolerance * largest) << what << ", element " << i;
}

/// f(x) with its gradient, fused and composed, and a second derivative, by fixed cotangents of
/// which the first is scaled.
struct Derivatives {
  Tensor value, fused, composed, second;
};
Derivatives derivatives(const Function& f, const Tensor& at, double scale = 1) {
  Tensor x = kernels::clone(at);
  x.set_requires_grad();
  const Tensor y = f(x);
  Generator rng(3);
  const GradOptions options{
      .cotangents = {cast(normal(y.shape(), rng, 0, 1, f64), y.dtype()) * scale},
      .retain_graph = true};
  GradOptions recorded = options;
  recorded.create_graph = true;
  const Tensor composed = grad(y, x, recorded);
  const Tensor direction = cast(normal(x.shape(), rng, 0, 1, f64), x.dtype());
  return {y.detach(), grad(y, x, options), composed.detach(), grad(sum(composed * direction), x)};
}

/// f(c·x) = c^degree·f(x), and the derivatives have the degrees that follow.
void check_homogeneous(const std::string& name, const Function& f, int degree) {
  for (const DType dtype : {f32, f64}) {
    const double tolerance = dtype == f32 ? 4e-6 : 1e-14;
    Generator rng(7);
    const Tensor x = normal({4, 5}, rng, 0.3, 1, dtype);
    const Derivatives want = derivatives(f, x);
    for (const double c : {std::ldexp(1.0, dtype == f32 ? 110 : 900), 0x1p10,
                           std::ldexp(1.0, dtype == f32 ? -110 : -900)}) {
      const std::string what = detail::join(name, " at ", c);
      const Derivatives got = derivatives(f, x * c, degree == 0 ? c : 1);
      const double unit = degree == 0 ? 1 : c;
      expect_close(got.value / unit, want.value, tolerance, what);
      expect_close(got.fused, want.fused, tolerance, what + ", gradient");
      expect_close(got.composed, want.composed, tolerance, what + ", composed gradient");
      expect_close(got.second * c, want.second, 4 * tolerance, what + ", second derivative");
    }
  }
}

TEST(Range, NormsAndDeviationsScaleWithTheirInput) {
  for (const Axes& axes : {Axes(), Axes(0), Axes(1)}) {
    check_homogeneous(
        "norm", [&](const Tensor& x) { return norm(x, axes); }, 1);
    check_homogeneous(
        "stddev", [&](const Tensor& x) { return stddev(x, axes); }, 1);
  }
}

TEST(Range, NormalizationDoesNotSeeTheScale) {
  const Tensor w = vector({1, -2, 0.5, 3, 1}, f64), b = vector({1, 0, 2, -1, 1}, f64);
  check_homogeneous(
      "layer_norm", [&](const Tensor& x) { return layer_norm(x, w, b, 0); }, 0);
  check_homogeneous(
      "rms_norm", [&](const Tensor& x) { return rms_norm(x, w, 0); }, 0);
}

TEST(Range, RowsOfVeryDifferentScale) {
  const Tensor x = tensor({3e30, 4e30, 3, 4, 3e-30, 4e-30, 0, 0, INFINITY, 1, NAN, 1}, {6, 2});
  const Values y = norm(x, 1).to_vector();
  EXPECT_EQ(y[0], 5e30f);
  EXPECT_EQ(y[1], 5);
  EXPECT_FLOAT_EQ(y[2], 5e-30f);
  EXPECT_EQ(y[3], 0);
  EXPECT_EQ(y[4], INFINITY);
  EXPECT_TRUE(std::isnan(y[5]));
}

TEST(Range, LargeAndSmallNumbers) {
  EXPECT_DOUBLE_EQ(norm(vector({3e200, 4e200}, f64)).item(), 5e200);
  EXPECT_FLOAT_EQ(stddev(vector({1e25, -1e25})).item<float>(), std::sqrt(2.0f) * 1e25f);
  EXPECT_FLOAT_EQ(mean(vector({3e38, 3e38, 3e38})).item<float>(), 3e38f);
  EXPECT_FLOAT_EQ(var(vector({1e19, -1e19, 1e19, -1e19}), {}, Dims::drop, 0).item<float>(), 1e38f);
  const float root = std::sqrt(1.5f);
  expect_close(layer_norm(vector({1e20, -1e20, 0})), vector({root, -root, 0}), 1e-6, "layer_norm");
  expect_close(layer_norm(vector({3e38, -3e38, 0})), vector({root, -root, 0}), 1e-6, "layer_norm");
  expect_close(rms_norm(vector({1e30, -1e30})), vector({1, -1}), 1e-6, "rms_norm");
  expect_close(layer_norm(vector({1e38, 1e38, 1e38})), vector({0, 0, 0}), 0, "equal elements");
  // eps counts beside small squares: 1e-25 is 1e-20 of its root.
  expect_close(layer_norm(vector({1e-25, -1e-25})), vector({1, -1}) * (1e-25 / std::sqrt(1e-5)),
               1e-6, "small");
  expect_close(rms_norm(vector({1e-25, -1e-25})), vector({1, -1}) * (1e-25 / std::sqrt(1e-5)), 1e-6,
               "small");
}

TEST(Range, DataFarFromZero) {
  const auto spread = [](const Tensor& x) { return var(x, -1); };
  const auto root = [](const Tensor& x) { return stddev(x, -1); };
  const auto standard = [](const Tensor& x) { return layer_norm(x); };
  for (const double third : {16, 8, 24})
    for (const Function& f : {Function(standard), Function(spread), Function(root)}) {
      const Tensor x = vector({1e8, 1e8 + 8, 1e8 + third});
      const Derivatives got = derivatives(f, x), want = derivatives(f, cast(x, f64));
      expect_close(got.value, want.value, 1e-6, "value");
      expect_close(got.fused, want.fused, 4e-6, "gradient");
      expect_close(got.composed, want.composed, 4e-6, "composed gradient");
      expect_close(got.second, want.second, 1e-5, "second derivative");
    }
  const float root_of = std::sqrt(1.5f);
  expect_close(layer_norm(vector({1e8, 1e8 + 8, 1e8 + 16})), vector({-root_of, 0, root_of}), 1e-6,
               "layer_norm");
  expect_close(layer_norm(full({3}, 0.1)), zeros({3}), 0, "equal elements");
}

TEST(Range, ManyRowsWithoutElements) {
  Tensor x = zeros({std::int64_t{1} << 50, 0});
  x.set_requires_grad();
  for (const Function& f : {Function([](const Tensor& t) { return layer_norm(t); }),
                            Function([](const Tensor& t) { return rms_norm(t, ones({0})); })})
    for (const bool again : {true, false}) {
      const GradOptions options{.retain_graph = true, .create_graph = again};
      EXPECT_TRUE(grad(sum(f(x)), x, options).shape() == x.shape());
    }
}

// --- prod ---

TEST(Range, ProductsWithAZeroNeedMemoryOfOrderN) {
  constexpr std::int64_t n = 300001;
  Tensor x = ones({n}, f64);
  x.mutable_data<double>()[7] = 0;
  x.mutable_data<double>()[n - 1] = 3;
  x.set_requires_grad();
  const Tensor g = grad(prod(x), x);
  EXPECT_EQ(g.data<double>()[7], 3);
  EXPECT_EQ(sum(g).item(), 3);
}

TEST(Range, ProductsThatUnderflowHaveExactGradients) {
  const Tensor x = vector({1e-30, 1e-30, 2});
  const Derivatives d = derivatives([](const Tensor& t) { return prod(t); }, x);
  const Derivatives want = derivatives([](const Tensor& t) { return prod(t); }, cast(x, f64));
  EXPECT_EQ(d.value.item(), 0);
  expect_close(d.fused, want.fused, 1e-6, "gradient");
  expect_close(d.composed, want.composed, 1e-6, "composed gradient");
  expect_close(d.second, want.second, 1e-6, "second derivative");
}

// Cotangents and products of the others at opposite ends of the range: what they give together is
// in it.
TEST(Range, GradientsOfProductsKeepWhatLargeAndSmallCotangentsBringBack) {
  struct Case {
    DType dtype;
    std::vector<double> exponents;  // x = 2^…
    double cotangent, want;         // exponents, of the gradient by the last
  };
  for (const Case& c :
       {Case{f32, {-87, -87, -87, 0}, 127, -134}, Case{f32, {87, 87, 87, 0}, -149, 112},
        Case{f32, {-100, -100, -76, 0}, 127, -149}, Case{f32, {126, 126, 20, 0}, -149, 123},
        Case{f64, {-700, -700, -690, 0}, 1020, -1070}, Case{f64, {700, 700, 690, 0}, -1074, 1016},
        Case{f64, {-1000, -1000, -90, 0}, 1023, -1067}}) {
    std::vector<double> values;
    for (const double e : c.exponents) values.push_back(std::exp2(e));
    const Tensor x = cast(from_vector(values, {4}), c.dtype).set_requires_grad();
    const Tensor y = prod(x);
    for (const bool graph : {false, true}) {
      const GradOptions options{.cotangents = {full({}, std::exp2(c.cotangent), c.dtype)},
                                .retain_graph = true,
                                .create_graph = graph};
      EXPECT_EQ(at(grad(y, x, options), {3}).item(),
                c.dtype == f32 ? static_cast<float>(std::exp2(c.want)) : std::exp2(c.want))
          << c.cotangent << ' ' << c.want << ' ' << c.dtype;
    }
  }
  // Fractions that multiply up: 1.9^99·1.9·2^−100 of a cotangent near the largest number.
  for (const std::int64_t n : {3, 100}) {
    Tensor x = full({n}, 1.9, f32);
    x.mutable_data<float>()[0] = 0x1p-126F;
    x.mutable_data<float>()[n - 1] = 0x1p-4F;
    x.set_requires_grad();
    const GradOptions options{.cotangents = {full({}, 3e38, f32)}};
    double want = 3e38 * 0x1p-126 * 0x1p-4;
    for (std::int64_t i = 0; i < n - 3; ++i) want *= static_cast<double>(1.9F);
    EXPECT_NEAR(at(grad(prod(x), x, options), {1}).item() / want, 1, 1e-5) << n;
  }
}

}  // namespace
TEST(Range, DeterminantsAndTheirGradients) {
  struct Case {
    std::vector<double> diagonal;
    DType dtype;
    double value;
  };
  const double inf = HUGE_VAL;
  for (const Case& c :
       {Case{{1e25, 1e25}, f32, inf}, Case{{1e-25, 1e-25}, f32, 0},
        Case{{1e25, 1e25, 1e-25, 1e-25}, f32, 1}, Case{{1e200, 1e200, 1e-200, 1e-200}, f64, 1},
        Case{{1e-200, 1e-200, 1e200, 1e200}, f64, 1}, Case{{-1e200, 1e200}, f64, -inf},
        Case{{3, -0.5}, f64, -1.5}})
    for (const bool create_graph : {false, true}) {
      const auto n = static_cast<std::int64_t>(c.diagonal.size());
      const Tensor d = cast(from_vector(c.diagonal, {n}), c.dtype);
      const Tensor a = (eye(n, c.dtype) * d).detach().set_requires_grad();
      const double bound = c.dtype == f32 ? 1e-6 : 1e-14;
      const Tensor y = det(a);
      if (std::isinf(c.value))
        EXPECT_EQ(y.item(), c.value);
      else
        EXPECT_NEAR(y.item(), c.value, bound * std::abs(c.value));
      const Tensor g = grad({y}, {a}, {.create_graph = create_graph})[0].detach();
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const auto of = [&](std::int64_t k) { return c.diagonal[static_cast<std::size_t>(k)]; };
          const double want = i != j ? 0 : n == 2 ? of(1 - i) : c.value / of(i);
          EXPECT_NEAR(at(g, {i, j}).item(), want, bound * std::abs(want)) << i << " " << j;
        }
    }
}

TEST(Range, MeansWhoseSumsOverflow) {
  for (const DType dtype : {f32, f64}) {
    const double most = dtype == f32 ? 3e38 : 1.5e308, bound = most * 1e-6;
    const Tensor x = full({2, 1}, -most, dtype).set_requires_grad();
    const Tensor rows = nll_loss(x, zeros({2}, i64));
    EXPECT_NEAR(rows.item(), most, bound);
    EXPECT_TRUE(all_close(grad({rows}, {x})[0], full({2, 1}, -0.5, dtype)));
    const Tensor logits = cast(tensor({0, -1, 0, -1}, {2, 2}, f64) * most, dtype);
    EXPECT_NEAR(cross_entropy(logits, ones({2}, i64)).item(), most, bound);
    for (const bool own : {false, true}) {
      const Tensor source = full({2}, most, dtype).set_requires_grad();
      const Tensor to = full({2}, most, dtype);
      const Tensor y = scatter_reduce(to, 0, zeros({2}, i64), source, Scattered::mean, own);
      EXPECT_NEAR(at(y, {0}).item() / most, 1, 1e-6);
      const Tensor share = full({2}, own ? 1. / 3 : 0.5, dtype);
      EXPECT_TRUE(all_close(grad({sum(slice(y, 0, {.stop = 1}))}, {source})[0], share));
    }
  }
}

}  // namespace ladon::test
