// Norms, standard deviations and products whose intermediate squares or products overflow or
// underflow although the result does not, and for data far from zero.

#include <array>
#include <cmath>
#include <utility>

#include "ladon/autograd/extra/transforms/forward.h"
#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::test::range_test {
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

// The mean of equal numbers is rounded; divided by a deviation of 0, its error could be anything.
TEST(Range, LayerNormOfEqualNumbersIsItsBias) {
  for (const DType dtype : {f32, f64})
    for (const double size : {1e-30, 1.0, 1e8, 1e30, 1e37})
      for (const std::int64_t n : {1, 3, 7, 64}) {
        SCOPED_TRACE(testing::Message() << dtype << ' ' << size << ' ' << n);
        const Tensor x = full({2, n}, size / 3, dtype).set_requires_grad();
        const Tensor bias = cast(arange(n), dtype), g = reshape(cast(arange(2 * n), dtype), {2, n});
        const Tensor y = layer_norm(x, ones({n}, dtype), bias);
        expect_close(y, expand(bias, {2, n}), 1e-12, "value");
        const Tensor dx = grad({y}, {x}, {.cotangents = {g}})[0];
        const Tensor wanted = (g - mean(g, 1, keep_dims)) / std::sqrt(1e-5);
        expect_close(dx, wanted, dtype == f32 ? 1e-5 : 1e-12, "gradient");
      }
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

// --- powers ---

// g·s·x^(s−1) where x^(s−1) leaves the range of f32, or its normal part, and the product does not.
TEST(Range, SlopesOfPowersMeetTheCotangentInRange) {
  struct Case {
    double x, s, g;
  };
  const std::vector<Case> cases{{1e-20, -1, 1e-10}, {-1e-20, -1, 1e-20}, {1e-30, -0.5, 1e-10},
                                {1e-20, -2, 1e-30}, {1e-25, 3, 1e20},    {-1e-25, 3, 1e20},
                                {1e20, 3, 1e-20},   {1e20, -1, 1e20},    {1e25, -2, 1e38},
                                {1e-25, 2.5, 1e20}, {-1e-20, 4, 1e38},   {1e-30, 0.5, 1e20},
                                {2, -1, 1e20},      {2, 3, 1e-20}};
  for (const auto& [x, s, g] : cases) {
    SCOPED_TRACE(detail::join("x = ", x, ", s = ", s, ", g = ", g));
    const double u = static_cast<float>(x), c = static_cast<float>(g);
    const double want = c * s * std::pow(u, s - 1);
    const Tensor at = tensor({x, 0, 3}), cotangent = tensor({g, 1, 1});
    const Tensor exponent = full({3}, s);
    for (const Function& f : {Function([s = s](const Tensor& t) { return pow(t, s); }),
                              Function([&](const Tensor& t) { return pow(t, exponent); })}) {
      for (const bool record : {false, true}) {
        Tensor leaf = kernels::clone(at);
        leaf.set_requires_grad();
        const GradOptions options{.cotangents = {cotangent}, .create_graph = record};
        const Values got = grad(f(leaf), leaf, options).to_vector();
        EXPECT_NEAR(got[0], want, 1e-5 * std::abs(want)) << record;
        EXPECT_EQ(got[1], s * std::pow(0.0, s - 1)) << record;
        EXPECT_NEAR(got[2], s * std::pow(3, s - 1), 1e-5) << record;
      }
      const Values tangent =
          jvp([&](const std::vector<Tensor>& in) { return f(in[0]); }, {at}, {cotangent})
              .tangent.to_vector();
      EXPECT_NEAR(tangent[0], want, 1e-5 * std::abs(want));
      EXPECT_EQ(tangent[1], s * std::pow(0.0, s - 1));
    }
  }
}

TEST(Range, SlopesByAnExponentMeetTheCotangentInRange) {
  for (const auto& [a, b, g] : {std::array{1e20, 2.0, 1e-10}, std::array{1e-20, 2.0, 1e20},
                                std::array{1e-20, -2.0, 1e-20}}) {
    Tensor exponent = tensor({b});
    exponent.set_requires_grad();
    const double got =
        grad(pow(tensor({a}), exponent), exponent, {.cotangents = {tensor({g})}}).item();
    const double want = g * std::pow(a, b) * std::log(a);
    EXPECT_NEAR(got, want, 1e-5 * std::abs(want)) << a << ", " << b;
  }
}

TEST(Range, SecondDerivativesOfPowersOutOfRange) {
  Tensor x = tensor({1e-20, 2});
  x.set_requires_grad();
  const GradOptions once{.cotangents = {tensor({1e-30, 1})}, .create_graph = true};
  const Tensor first = grad(pow(x, -1), x, once);  // −g/x²
  const Values second = grad(first, x, {.cotangents = {tensor({1e-10, 1})}}).to_vector();
  EXPECT_NEAR(second[0], 2e20, 1e15);  // 2g/x³
  EXPECT_NEAR(second[1], 0.25, 1e-6);
}

TEST(Range, SlopesOfAtan2OfDenormalNumbers) {
  for (const double x : {1e-40, 1e30}) {
    const double g = x < 1 ? 1e-20 : 1e20, size = tensor({x}).item();
    Tensor a = tensor({x, 1}), b = tensor({x, 1});
    a.set_requires_grad();
    b.set_requires_grad();
    const auto [by_a, by_b] = [&] {
      const auto all =
          grad(std::vector{atan2(a, b)}, std::vector{a, b}, {.cotangents = {tensor({g, 1})}});
      return std::pair(all[0].to_vector(), all[1].to_vector());
    }();
    EXPECT_NEAR(by_a[0] / (g / (2 * size)), 1, 1e-5);
    EXPECT_NEAR(by_b[0] / (-g / (2 * size)), 1, 1e-5);
    EXPECT_EQ(by_a[1], 0.5);
  }
}

// --- weighted means ---

// Means are right where the sum of the losses, of the weights or of their products leaves the
// range.
TEST(Range, MeansOfClassLosses) {
  const Tensor target = tensor({0, 1, 1, 0}, i64);
  const Tensor large = full({4, 2}, -2e38);
  EXPECT_FLOAT_EQ(nll_loss(large, target).item<float>(), 2e38f);
  Tensor far = tensor({2e38, 0, 0, 2e38, 0, 2e38, 2e38, 0}, {4, 2});
  EXPECT_FLOAT_EQ(cross_entropy(far, 1 - target).item<float>(), 2e38f);
  far.set_requires_grad();
  EXPECT_FLOAT_EQ(grad(cross_entropy(far, 1 - target), far).to_vector()[0], 0.25f);

  Generator rng(5);
  const Tensor scores = normal({4, 2}, rng, 0, 3), weights = tensor({1, 0.5});
  for (const double smoothing : {0.0, 0.1})
    for (const bool vmapped : {false, true})
      for (const double scale : {0x1p127, 0x1p126, 0x1p-120, 0x1p-126}) {
        SCOPED_TRACE(detail::join("scale ", scale, ", smoothing ", smoothing));
        const auto run = [&](const Tensor& w) {
          Tensor x = kernels::clone(scores);
          x.set_requires_grad();
          const auto loss = [&](const std::vector<Tensor>& in) {
            return cross_entropy(in[0], target, {.label_smoothing = smoothing, .weight = w});
          };
          const Tensor y = vmapped ? sum(vmap(loss, {unsqueeze(x, 0)})) : loss({x});
          return std::pair(y.item<float>(), grad(y, x).to_vector());
        };
        EXPECT_EQ(run(weights * scale), run(weights));
      }
}

// --- cosine similarity, and numbers that a dtype rounds to 0 ---

TEST(Range, CosinesOfVectorsWhoseNormOverflows) {
  Tensor x = tensor({3e38, 3e38, 3, 4}, {2, 2});
  EXPECT_EQ(cosine_similarity(x, tensor({1, 0, 1, 0}, {2, 2})).to_vector()[1], 0.6f);
  expect_close(cosine_similarity(x, x), ones({2}), 1e-6, "with itself");
  x.set_requires_grad();
  const Tensor by = grad(sum(cosine_similarity(x, tensor({1, 0, 1, 0}, {2, 2}))), x);
  const double want = 0.5 / (std::sqrt(2.0) * 3e38);  // ∂ of x₀/|x| where x₀ = x₁
  EXPECT_NEAR(by.to_vector()[0] / want, 1, 1e-3);     // a denormal number
}

TEST(Range, PositiveNumbersThatRoundToZeroAreErrors) {
  const Tensor x = zeros({3}), wide = zeros({3}, f64);
  expect_error([&] { cosine_similarity(x, x, -1, 1e-50); }, "which f32 rounds to 0");
  EXPECT_EQ(cosine_similarity(wide, wide, -1, 1e-50).item(), 0);
}

// --- extremes ---

// NaN is the extreme of its row, and gets the row's gradient, as max() gives it.
TEST(Range, NaNsGetTheGradientOfTheirExtreme) {
  const Tensor at = tensor({1, NAN, 3, 4, 4, 2, NAN, NAN, 1}, {3, 3});
  const Values most{0, 1, 0, 0.5, 0.5, 0, 0.5, 0.5, 0}, least{0, 1, 0, 0, 0, 1, 0.5, 0.5, 0};
  for (const bool largest : {true, false})
    for (const bool record : {false, true}) {
      Tensor x = kernels::clone(at);
      x.set_requires_grad();
      const Tensor y = largest ? amax(x, 1) : amin(x, 1);
      const Tensor g = grad(sum(y), x, {.create_graph = record});
      EXPECT_EQ(g.to_vector(), largest ? most : least);
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

}  // namespace ladon::test::range_test
