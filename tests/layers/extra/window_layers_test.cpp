// Layers over windows, in addition to conv_test.cpp: dilation, groups, padding given by a number,
// transposed convolution, max pooling, windows of even size.

#include <cmath>

#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
#include "ladon/layers/parameter_uses.h"
#include "ladon/tests/support.h"

namespace ladon::window_layers_test {
namespace {

Tensor ramp(const Shape& shape) {
  return reshape(arange(1, static_cast<double>(shape.count()) + 1, 1, f32), shape);
}

/// A filter that adds up what it sees, without bias.
Conv1d adding(ConvOptions o) {
  Generator rng(1);
  o.in = o.out = 1;
  o.bias = false;
  o.init = Init::ones;
  return Conv1d(o, rng);
}

TEST(SlidingWindow, OfDilationAndZerosByNumber) {
  const SlidingWindow w{.size = 3, .stride = 2, .dilation = 2, .in_front = 1, .behind = 2};
  EXPECT_EQ(w.extent(), 5);
  EXPECT_EQ(w.count(6), 3);  // (6 + 3 − 5)/2 + 1
  EXPECT_EQ(w.before(6), 1);
  EXPECT_EQ(w.after(6), 2);
  // same: 4 taps apart by 2 are 7 positions, of which 6 are lacking
  EXPECT_EQ((SlidingWindow{4, 1, Padding::same, 2}.before(5)), 3);
  test::expect_error([] { SlidingWindow{3, 1, Padding::valid, 3}.count(6); }, "does not fit on 6");
  EXPECT_EQ(describe({w}), "[3], stride [2], zeros [1] and [2], dilation [2]");
}

TEST(Conv1d, SeesItsDilatedWindow) {
  const Tensor x = ramp({1, 5, 1});  // 1 2 3 4 5
  const auto sums = [&](const ConvOptions& o) { return flatten(adding(o)(x)); };
  EXPECT_TRUE(all_equal(
      sums({.in = 1, .out = 1, .window = {2}, .padding = Padding::valid, .dilation = {3}}),
      tensor({5, 7})));
  EXPECT_TRUE(all_equal(sums({.in = 1, .out = 1, .window = {3}, .dilation = {2}}),
                        tensor({4, 6, 9, 6, 8})));
  EXPECT_TRUE(all_equal(
      sums({.in = 1, .out = 1, .window = {3}, .padding = Padding::circular, .dilation = {2}}),
      tensor({1 + 3 + 4, 2 + 4 + 5, 3 + 5 + 1, 4 + 1 + 2, 5 + 2 + 3})));
  EXPECT_TRUE(all_equal(sums({.in = 1, .out = 1, .window = {3}, .before = {2}, .after = {0}}),
                        tensor({1, 3, 6, 9, 12})));
  EXPECT_TRUE(
      all_equal(sums({.in = 1, .out = 1, .window = {3}, .before = {1}}), tensor({3, 6, 9, 12, 9})));
  EXPECT_TRUE(
      all_equal(sums({.in = 1, .out = 1, .window = {3}, .after = {1}}), tensor({6, 9, 12, 9})));
}

TEST(Conv2d, InGroupsSeesItsShare) {
  Generator rng(2);
  const Conv2d layer({.in = 4, .out = 6, .window = {2, 3}, .padding = Padding::valid, .groups = 2},
                     rng);
  EXPECT_EQ(layer.on_patches.weight.shape(), (Shape{6, 12}));
  const Tensor x = normal({2, 4, 5, 4}, rng);
  Tensor other = clone(x);
  fill_(slice(other, 3, {.start = 2}), 7);  // the second group's channels
  const auto first = [](const Tensor& y) { return slice(y, 3, {.stop = 3}); };
  EXPECT_TRUE(all_equal(first(layer(x)), first(layer(other))));
  EXPECT_EQ(layer.describe(), "Conv2d(4 → 6, window [2, 3], stride [1, 1], valid, groups 2)");
  test::expect_error([&] { Conv1d({.in = 4, .out = 6, .window = {1}, .groups = 4}, rng); },
                     "[Conv1d] 4 groups do not divide 4 channels and 6 outputs evenly");
  test::expect_error(
      [&] {
        Conv1d({.in = 4, .out = 6, .window = {1}, .before = {1, 1}}, rng);
      },
      "there are 1 window sizes and 2 zeros before");
  test::expect_error([&] { Conv1d({.in = 4, .out = 6, .window = {1}, .before = {-1}}, rng); },
                     "must not be negative");
}

// A trace takes another path: patches that are kept.
TEST(Conv2d, GivesTheSameWhileItIsTraced) {
  Generator rng(3);
  for (const Padding padding : {Padding::same, Padding::circular})
    for (const auto parameterization : {Parameterization::standard, Parameterization::ntk}) {
      const bool ntk = parameterization == Parameterization::ntk;
      const Conv2d layer({.in = 4,
                          .out = 6,
                          .window = {2, 3},
                          .stride = {2, 1},
                          .padding = padding,
                          .dilation = {2, 1},
                          .groups = 2,
                          .parameterization = parameterization,
                          .weight_std = ntk ? 1.5 : 1,
                          .bias_std = ntk ? 0.5 : 0},
                         rng);
      const Tensor x = normal({2, 6, 5, 4}, rng);
      const Tensor y = layer(x);
      const ParameterUses reported;
      EXPECT_TRUE(all_close(layer(x), y, 1e-5, 1e-5));
      EXPECT_EQ(reported.products.size(), 2u);
    }
}

// --- transposed ---

TEST(ConvTranspose1d, SpreadsItsInput) {
  Generator rng(4);
  const auto spread = [&](ConvTransposeOptions o) {
    o.init = Init::ones;
    return flatten(ConvTranspose1d(o, rng)(ramp({1, 3, 1})));  // 1 2 3
  };
  EXPECT_TRUE(all_equal(spread({.in = 1, .out = 1, .window = {2}}), tensor({1, 3, 5, 3})));
  EXPECT_TRUE(all_equal(spread({.in = 1, .out = 1, .window = {2}, .stride = {3}}),
                        tensor({1, 1, 0, 2, 2, 0, 3, 3})));
  EXPECT_TRUE(all_equal(
      spread(
          {.in = 1, .out = 1, .window = {3}, .stride = {2}, .before = {1}, .output_padding = {1}}),
      tensor({1, 3, 2, 5, 3, 3})));
}

TEST(ConvTranspose2d, TurnsAConvolutionAround) {
  Generator rng(5);
  const ConvTranspose2d layer({.in = 3, .out = 4, .window = {2, 2}, .stride = {2, 2}}, rng);
  EXPECT_EQ(layer.weight.shape(), (Shape{3, 2, 2, 4}));
  EXPECT_EQ(layer.bias.shape(), (Shape{4}));
  EXPECT_EQ(layer.named_parameters()[0].first, "weight");
  const Tensor y = layer(normal({2, 3, 5, 3}, rng));
  EXPECT_EQ(y.shape(), (Shape{2, 6, 10, 4}));
  EXPECT_EQ(layer.describe(), "ConvTranspose2d(3 → 4, window [2, 2], stride [2, 2])");
  test::expect_error([&] { layer(ones({2, 3, 3})); }, "expects [N, H, W, 3]");
  test::expect_error([&] { layer(ones({1, 1, 2, 3}), ones({1, 2}, boolean)); }, "got a mask");
  test::expect_error(
      [&] {
        ConvTranspose1d({.in = 3, .out = 4, .window = {2, 2}}, rng);
      },
      "needs 1 window size, got [2, 2]");
}

// Weights have mean 0 and variance 1/(taps·in/groups): 4,800 of them, to 4 standard errors.
TEST(ConvTranspose1d, IsDrawnByItsFans) {
  Generator rng(6);
  const ConvTranspose1d layer({.in = 40, .out = 60, .window = {4}, .groups = 2}, rng);
  const double n = 4800, fan_in = 80;
  EXPECT_EQ(static_cast<double>(layer.weight.count()), n);
  EXPECT_NEAR(mean(layer.weight).item() * std::sqrt(fan_in), 0, 4 / std::sqrt(n));
  EXPECT_NEAR(var(layer.weight).item() * fan_in, 1, 4 * std::sqrt(2 / n));
}

// --- pooling ---

TEST(MaxPool, TakesTheLargest) {
  const Tensor x = reshape(tensor({3, 1, -4, 1, -5}), {1, 5, 1});
  const auto pooled = [&](const PoolOptions& o) { return flatten(MaxPool(o)(x)); };
  EXPECT_TRUE(all_equal(pooled({.window = {2}}), tensor({3, 1})));
  EXPECT_TRUE(all_equal(pooled({.window = {3}, .stride = {1}}), tensor({3, 1, 1})));
  EXPECT_TRUE(
      all_equal(pooled({.window = {2}, .stride = {1}, .dilation = {2}}), tensor({3, 1, -4})));
  EXPECT_TRUE(all_equal(pooled({.window = {2}, .stride = {1}, .padding = Padding::circular}),
                        tensor({3, 1, 1, 1, 3})));
  EXPECT_TRUE(all_equal(pooled({.window = {2}, .stride = {4}, .before = {1}}),
                        tensor({3, 1})));  // zeros around are no elements: max(−, 3), max(1, −5)
  const Tensor negative = full({1, 2, 1}, -1);
  EXPECT_TRUE(all_equal(
      flatten(MaxPool({.window = {3}, .stride = {1}, .padding = Padding::same})(negative)),
      tensor({-1, -1})));
  EXPECT_TRUE(
      all_equal(MaxPool({.window = {2, 1}})(ramp({1, 2, 2, 1})), tensor({3, 4}, {1, 1, 2, 1})));
  EXPECT_EQ(MaxPool({.window = {2}}).describe(), "MaxPool([2], stride [2], valid)");
  Generator rng(1);
  test::expect_error(
      [&] {
        infinite::limit(MaxPool({.window = {2}}))(ones({1, 4, 2}, f64));
      },
      "no limit in closed form");
}

TEST(MaxPool, SeesVisiblePositions) {
  const Tensor x = reshape(tensor({-3, 5, -4, 6}), {1, 4, 1});
  const Tensor mask = cast(tensor({1, 0, 0, 0}, {1, 4}), boolean);
  const MaxPool near({.window = {3}, .stride = {1}, .padding = Padding::same});
  EXPECT_TRUE(all_equal(flatten(near(x, mask)), tensor({-3, -3, 0, 0})));
  test::expect_error([&] { MaxPool({.window = {2}})(x, mask); }, "makes positions [2] of [4]");
}

TEST(AveragePool, OfLargeNumbersIsFinite) {
  const Tensor x = tensor({3e38, 3e38, 1, 2, -3e38, -3e38}, {1, 6, 1}, f32);
  const Tensor y = flatten(AveragePool({.window = {2}})(x));
  EXPECT_TRUE(all_equal(y, flatten(average_pool(x, {2}))));
  EXPECT_TRUE(all_equal(y, tensor({3e38, 1.5, -3e38}, {3}, f32)));
  Tensor some = parameter(x);
  backward(sum(AveragePool({.window = {2}})(some)));
  EXPECT_TRUE(all_equal(some.grad(), full({1, 6, 1}, 0.5)));
  // Masked positions do not count, and windows that see no number give 0.
  const Tensor mask = tensor({1, 1, 1, 1, 1, 0}, {1, 6}, boolean);
  const AveragePool same({.window = {3}, .stride = {1}, .padding = Padding::same});
  const std::vector<double> seen = flatten(same(x, mask)).to_vector();
  const std::vector<double> expected = {3e38, 2e38, 1e38, -1e38, -1.5e38, -3e38};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(seen[i] / expected[i], 1, 1e-6) << i;
  const Tensor around = flatten(AveragePool({.window = {2}, .before = {2}, .after = {2}})(x));
  EXPECT_TRUE(all_equal(around, tensor({0, 3e38, 1.5, -3e38, 0}, {5}, f32)));
}

TEST(AveragePool, SeesItsDilatedWindow) {
  const AveragePool apart({.window = {2}, .stride = {1}, .before = {1}, .dilation = {2}});
  EXPECT_TRUE(all_equal(flatten(apart(ramp({1, 4, 1}))), tensor({2, 2, 3, 3})));
}

TEST(AdaptiveAveragePool, SharesPositionsEvenly) {
  const AdaptiveAveragePool pool({3});
  EXPECT_TRUE(all_equal(flatten(pool(ramp({1, 4, 1}))), tensor({1.5, 2.5, 3.5})));
  EXPECT_TRUE(all_equal(flatten(pool(ramp({1, 6, 1}))), tensor({1.5, 3.5, 5.5})));
  EXPECT_EQ(AdaptiveAveragePool({2, 1})(ramp({2, 5, 4, 3})).shape(), (Shape{2, 2, 1, 3}));
  const Tensor mask = cast(tensor({1, 0, 1}, {1, 3}), boolean);
  EXPECT_TRUE(all_equal(flatten(pool(ramp({1, 3, 1}), mask)), tensor({1, 0, 3})));
  test::expect_error([&] { pool(ramp({1, 4, 1}), ones({1, 4}, boolean)); }, "makes positions [3]");
  test::expect_error([] { AdaptiveAveragePool({0}); }, "must be positive");
  test::expect_error([&] { pool(ramp({1, 4, 4, 1})); }, "has counts for 1 axes");
}

}  // namespace
}  // namespace ladon::window_layers_test
