// Documented values and derivatives of operations at single points, such as kinks, where finite
// differences cannot check them.

#include "ladon/autograd/ops.h"

#include <cmath>
#include <limits>
#include <utility>

#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/graph.h"
#include "ladon/tests/support.h"

namespace ladon::test::ops_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using Values = std::vector<double>;

/// The gradient of Σ(1, 10, 100, …)·f(x), fused and composed, which must agree.
Values gradient(const std::function<Tensor(const Tensor&)>& f, Tensor x) {
  x.set_requires_grad();
  const Tensor y = f(x);
  const Tensor c =
      reshape(pow(full({y.count()}, 10, f64), arange(0, double(y.count()), 1, f64)), y.shape());
  const GradOptions options{.cotangents = {c}, .retain_graph = true};
  const Values fused = grad(y, x, options).to_vector();
  GradOptions recorded = options;
  recorded.create_graph = true;
  EXPECT_EQ(fused, grad(y, x, recorded).to_vector());
  return fused;
}

Tensor vector(std::initializer_list<double> values) { return tensor(values, f64); }

TEST(GradientAt, Kinks) {
  EXPECT_EQ(gradient(relu, vector({-1, 0, 1})), (Values{0, 0, 100}));
  EXPECT_EQ(gradient(abs, vector({-1, 0, 1})), (Values{-1, 0, 100}));
  EXPECT_EQ(gradient([](const Tensor& x) { return clamp(x, -1, 1); }, vector({-2, -1, 0, 1, 2})),
            (Values{0, 10, 100, 1000, 0}));
  EXPECT_EQ(gradient(floor, vector({0.5, 1})), (Values{0, 0}));
}

TEST(GradientAt, TiesIsShared) {
  const auto with = [](const Tensor& x) { return maximum(x, vector({1, 2, 3})); };
  EXPECT_EQ(gradient(with, vector({1, 3, 0})), (Values{0.5, 10, 0}));
  const auto below = [](const Tensor& x) { return minimum(x, vector({1, 2, 3})); };
  EXPECT_EQ(gradient(below, vector({1, 3, 0})), (Values{0.5, 0, 100}));
  const auto above = [](const Tensor& x) { return maximum(x, 2.0); };
  EXPECT_EQ(gradient(above, vector({2, 3, 0})), (Values{0.5, 10, 0}));
  const auto under = [](const Tensor& x) { return minimum(2.0, x); };
  EXPECT_EQ(gradient(under, vector({2, 3, 0})), (Values{0.5, 0, 100}));
  const Tensor same = tensor({0, 0, 0}, i64);
  const auto scattered = [&](const Tensor& x) {
    return scatter_reduce(zeros({1}, f64), 0, same, x, Scattered::max, false);
  };
  EXPECT_EQ(gradient(scattered, vector({4, 4, 1})), (Values{0.5, 0.5, 0}));
  const auto distinct = [](const Tensor& x) { return unique(x, 0).values; };
  EXPECT_EQ(gradient(distinct, vector({4, 4, 4})), (Values{1, 0, 0}));
  const auto largest = [](const Tensor& x) { return amax(x); };
  EXPECT_EQ(gradient(largest, vector({4, 1, 4, 4, 4})), (Values{0.25, 0, 0.25, 0.25, 0.25}));
  const auto first = [](const Tensor& x) { return max(x, 0).values; };
  EXPECT_EQ(gradient(first, vector({1, 4, 4})), (Values{0, 1, 0}));
}

// Each column would be sorted, and there are 2^34 of them.
TEST(Unique, OfNoRowsLooksAtNoColumn) {
  const UniqueElements none = unique(zeros({1 << 17, 1 << 17, 0}), 2);
  EXPECT_EQ(none.values.shape(), Shape({1 << 17, 1 << 17, 0}));
  EXPECT_EQ(none.counts.count(), 0);
}

TEST(GradientAt, RowsThatAreMaskedIsZero) {
  const Tensor x = tensor({-inf, -inf, 0, -inf}, {2, 2}, f64);
  EXPECT_EQ(gradient([](const Tensor& t) { return softmax(t, 1); }, x), (Values{0, 0, 0, 0}));
  EXPECT_EQ(gradient([](const Tensor& t) { return log_softmax(t, 1); }, x),
            (Values{0, 0, 100 - 1100, 1000}));
  EXPECT_EQ(gradient([](const Tensor& t) { return logsumexp(t, 1); }, x), (Values{0, 0, 10, 0}));
}

TEST(GradientAt, ZeroIsFinite) {
  EXPECT_EQ(gradient([](const Tensor& x) { return norm(x); }, vector({0, 0})), (Values{0, 0}));
  EXPECT_EQ(gradient([](const Tensor& x) { return pow(x, 0); }, vector({0, 2})), (Values{0, 0}));
  EXPECT_EQ(gradient([](const Tensor& x) { return pow(x, 1); }, vector({0, 2})), (Values{1, 10}));
  EXPECT_EQ(gradient(
                [](const Tensor& b) {
                  return pow(vector({0, 1}), b);
                },
                vector({2, 5})),
            (Values{0, 0}));
  EXPECT_EQ(gradient(
                [](const Tensor& a) {
                  return pow(a, vector({0, 3}));
                },
                vector({0, 0})),
            (Values{0, 0}));
  EXPECT_EQ(gradient([](const Tensor& x) { return prod(x); }, vector({0, 2, 5})),
            (Values{10, 0, 0}));
}

TEST(GradientAt, LargeArgumentsIsFinite) {
  EXPECT_EQ(gradient([](const Tensor& x) { return elu(x); }, vector({1000, 1})), (Values{1, 10}));
  EXPECT_EQ(gradient(softplus, vector({1000, -1000})), (Values{1, 0}));
  EXPECT_EQ(gradient(sigmoid, vector({1000, -1000})), (Values{0, 0}));
}

TEST(CrossEntropy, OfNoRowsTakesNoMemoryForItsClasses) {
  constexpr std::int64_t classes = std::int64_t{1} << 50;
  const Tensor loss =
      cross_entropy(zeros({0, classes}), zeros({0}, i64), {.reduction = Reduction::sum});
  EXPECT_EQ(loss.item(), 0);
}

TEST(CrossEntropy, SaysHowToMakeIndicesOfOtherTargets) {
  expect_error(
      [] {
        cross_entropy(ones({1, 2}), ones({1, 2}));
      },
      "(i64), got f32; use cast(targets, i64), or argmax(targets) for one-hot rows");
}

TEST(DTypes, ArePromoted) {
  const Tensor truth = ones({2}, boolean), whole = full({2}, 3, i64), single = ones({2}, f32);
  EXPECT_EQ((truth + truth).dtype(), i64);
  EXPECT_EQ((truth + truth).to_vector(), (Values{2, 2}));
  EXPECT_EQ((whole * single).dtype(), f32);
  EXPECT_EQ((whole * ones({2}, f64)).dtype(), f64);
  EXPECT_EQ((whole / whole).dtype(), f32);
  EXPECT_EQ((whole * 2).dtype(), i64);
  EXPECT_EQ((single * 2.5).dtype(), f32);
  EXPECT_EQ(exp(whole).dtype(), f32);
  EXPECT_EQ(sum(truth).dtype(), i64);
  EXPECT_EQ(less(whole, single).dtype(), boolean);
}

TEST(Clamp, BoundsIntegersExactly) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const Tensor x = from_vector(std::vector<std::int64_t>{least, -3, 3, largest}, {4});
  const auto clamped = [&](double low, double high) {
    return clamp(x, low, high).to_vector<std::int64_t>();
  };
  EXPECT_EQ(clamped(-inf, inf), (std::vector<std::int64_t>{least, -3, 3, largest}));
  EXPECT_EQ(clamped(-2.5, inf), (std::vector<std::int64_t>{-2, -2, 3, largest}));
  EXPECT_EQ(clamped(-inf, 2.5), (std::vector<std::int64_t>{least, -3, 2, 2}));
  EXPECT_EQ(clamp(ones({2}, boolean), -inf, inf).dtype(), i64);
}

TEST(InPlaceEdits, WorkOnViewsAndOverlappingSources) {
  Tensor x = arange(0, 6, 1, f64);
  const Tensor before = clone(x);
  copy_(x, flip(x, {0}));
  EXPECT_TRUE(all_equal(x, flip(before, {0})));
  add_(slice(x, 0, {.step = 2}), ones({}, f64), 10);
  EXPECT_EQ(x.to_vector(), (Values{15, 4, 13, 2, 11, 0}));
  mul_(select(x, 0, -2), -1);
  EXPECT_EQ(x.to_vector(), (Values{15, 4, 13, 2, -11, 0}));
  mul_(x, flip(x, {0}));
  EXPECT_EQ(x.to_vector(), (Values{0, -44, 26, 26, -44, 0}));
  Tensor third = slice(x, 0, {.step = 3});
  third /= tensor({1, 4}, f64);
  EXPECT_EQ(x.to_vector(), (Values{0, -44, 26, 6.5, -44, 0}));
  mul_(reshape(x, {2, 3}), tensor({1, 0, 2}, f64));
  EXPECT_EQ(x.to_vector(), (Values{0, 0, 52, 6.5, 0, 0}));
  Tensor marks = greater(x, 1);
  mul_(marks, less(x, 10));
  EXPECT_TRUE(all_equal(marks, equal(x, 6.5)));
  Tensor expanded = expand(ones({1}, f64), {6});
  const std::string refused = "] cannot write to an expanded tensor of shape [6]: axis 0";
  expect_error([&] { mul_(expanded, x); }, "[mul_" + refused);
  expect_error([&] { mul_(expanded, 2); }, "[mul_" + refused);
  expect_error([&] { add_(expanded, x); }, "[add_" + refused);
  expect_error([&] { copy_(expanded, x); }, "[copy_" + refused);
  expect_error([&] { fill_(expanded, 2); }, "[fill_" + refused);
  expect_error([&] { expanded += 1; }, "[operator+=" + refused);
  expect_error([&] { expanded -= x; }, "[operator-=" + refused);
  const Tensor pieces = arange(0, 5000, 1, f64), product = pieces * flip(pieces, {0});
  mul_(pieces, flip(pieces, {0}));  // what a piece writes, another still reads
  EXPECT_TRUE(all_equal(pieces, product));
}

TEST(InPlaceEdits, OfEachExampleAreItsOwn) {
  const Tensor x = arange(1, 7, 1, f64), y = arange(2, 8, 1, f64);
  const auto edited = [](const std::vector<Tensor>& in) {
    Tensor z = in[0] + 0;
    z *= in[1];
    z += in[0];
    z -= in[1];
    z /= in[1];
    return z;
  };
  const Tensor each = vmap(edited, {reshape(x, {2, 3}), reshape(y, {2, 3})});
  EXPECT_TRUE(all_equal(reshape(each, {6}), (x * y + x - y) / y));
}

TEST(InPlaceEdits, CountAsVersions) {
  const Tensor x = ones({2});
  auto edited = [&, version = x.storage().version()]() mutable {
    return std::exchange(version, x.storage().version()) != x.storage().version();
  };
  fill_(x, 2);
  EXPECT_TRUE(edited());
  copy_(x, ones({2}));
  EXPECT_TRUE(edited());
  add_(x, ones({2}));
  EXPECT_TRUE(edited());
  mul_(x, 2);
  EXPECT_TRUE(edited());
  mul_(x, ones({2}));
  EXPECT_TRUE(edited());
}

TEST(InPlaceEdits, AreRefusedWhereTheGraphWouldLoseThem) {
  Tensor parameter = ones({2});
  parameter.set_requires_grad();
  expect_error([&] { mul_(parameter, 2); }, "NoGrad");
  expect_error([&] { copy_(ones({2}), parameter); }, "source records history");
  const NoGrad no_grad;
  mul_(parameter, 2);
  EXPECT_EQ(parameter.to_vector(), (Values{2, 2}));
}

TEST(Dropout, KeepsTheMeanAndScalesTheRest) {
  Generator rng(1);
  const Tensor y = dropout(ones({100000}, f64), 0.2, rng);
  EXPECT_NEAR(mean(y).item(), 1, 4 * std::sqrt(0.25 / 100000));  // variance p/(1−p), 4 s.e.
  EXPECT_EQ(amax(y).item(), 1 / 0.8);
}

}  // namespace
}  // namespace ladon::test::ops_test
