// Convolution, window pooling, flattening and concatenation, forward and backward.

#include "ladon/autograd/functional.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::extra_conv_test {
namespace {

Tensor ramp(const Shape& shape) {
  return reshape(arange(1, static_cast<double>(shape.count()) + 1, 1, f32), shape);
}

/// A filter that adds up what it sees, without bias.
template <class Filter>
Filter adding(Shape window, Padding padding, Shape stride = {}) {
  Generator rng(1);
  return Filter({.in = 1,
                 .out = 1,
                 .window = window,
                 .stride = stride,
                 .padding = padding,
                 .bias = false,
                 .init = Init::ones},
                rng);
}

TEST(SlidingWindow, CountsPositions) {
  EXPECT_EQ((SlidingWindow{3, 1, Padding::valid}.count(5)), 3);
  EXPECT_EQ((SlidingWindow{3, 2, Padding::valid}.count(6)), 2);
  EXPECT_EQ((SlidingWindow{3, 2, Padding::same}.count(6)), 3);
  EXPECT_EQ((SlidingWindow{3, 1, Padding::same}.before(6)), 1);
  EXPECT_EQ((SlidingWindow{2, 1, Padding::same}.before(6)), 0);
  EXPECT_EQ((SlidingWindow{4, 1, Padding::same}.before(6)), 1);
  EXPECT_EQ((SlidingWindow{3, 2, Padding::same}.before(6)), 0);  // one position is lacking, behind
  EXPECT_EQ((SlidingWindow{5, 1, Padding::same}.count(2)), 2);
  test::expect_error(
      [] {
        SlidingWindow{5, 1, Padding::valid}.count(4);
      },
      "a window of 5 does not fit on 4");
  test::expect_error([] { SlidingWindow{5, 1, Padding::circular}.count(4); }, "does not fit on 4");
  EXPECT_EQ(padding_from_name("circular"), Padding::circular);
  test::expect_error([] { padding_from_name("full"); }, "valid, same, circular");
}

TEST(SlidingWindow, OfAnySizeAndStrideIsCounted) {
  constexpr std::int64_t most = INT64_MAX;
  EXPECT_EQ((SlidingWindow{3, most, Padding::same}.count(5)), 1);
  EXPECT_EQ((SlidingWindow{most, 1, Padding::same}.before(5)), (most - 1) / 2);
}

TEST(Conv1d, SeesItsWindow) {
  const Tensor x = ramp({1, 5, 1});  // 1 2 3 4 5
  const auto sums = [&](Padding padding, std::int64_t size, std::int64_t stride) {
    return flatten(adding<Conv1d>({size}, padding, {stride})(x));
  };
  EXPECT_TRUE(all_equal(sums(Padding::valid, 3, 1), tensor({6, 9, 12})));
  EXPECT_TRUE(all_equal(sums(Padding::valid, 2, 2), tensor({3, 7})));
  EXPECT_TRUE(all_equal(sums(Padding::same, 3, 1), tensor({3, 6, 9, 12, 9})));
  EXPECT_TRUE(all_equal(sums(Padding::same, 2, 1), tensor({3, 5, 7, 9, 5})));
  EXPECT_TRUE(all_equal(sums(Padding::same, 3, 2), tensor({3, 9, 9})));
  EXPECT_TRUE(all_equal(sums(Padding::circular, 3, 1), tensor({8, 6, 9, 12, 10})));
  EXPECT_TRUE(all_equal(sums(Padding::circular, 4, 1), tensor({11, 10, 14, 13, 12})));
}

TEST(Conv2d, SeesItsWindow) {
  const Tensor x = ramp({1, 2, 3, 1});  // 1 2 3 / 4 5 6
  const auto same = adding<Conv2d>({2, 3}, Padding::same)(x);
  EXPECT_TRUE(all_equal(same, tensor({12, 21, 16, 9, 15, 11}, {1, 2, 3, 1})));
  const auto valid = adding<Conv2d>({2, 2}, Padding::valid)(x);
  EXPECT_TRUE(all_equal(valid, tensor({12, 16}, {1, 1, 2, 1})));
}

// A patch lists taps in row-major order, and the channels of each.
TEST(Conv2d, OrdersItsWeights) {
  Generator rng(2);
  Conv2d layer({.in = 2, .out = 3, .window = {2, 2}, .padding = Padding::valid}, rng);
  const Tensor x = normal({4, 2, 2, 2}, rng);
  const Tensor expected = linear(flatten(x, 1), layer.on_patches.weight);
  EXPECT_TRUE(all_close(flatten(layer(x), 1), expected, 1e-6, 1e-6));
  EXPECT_EQ(layer.on_patches.weight.shape(), (Shape{3, 8}));
  EXPECT_EQ(layer.named_parameters()[0].first, "weight");
  EXPECT_EQ(layer.parameter_count(), 27);
}

TEST(Conv, ScalesInNtkParameterization) {
  Generator rng(2);
  const ConvOptions ntk = {.in = 2,
                           .out = 3,
                           .window = {2},
                           .parameterization = Parameterization::ntk,
                           .weight_std = 3,
                           .bias_std = 0.5};
  const Conv1d scaled(ntk, rng);
  Conv1d plain({.in = 2, .out = 3, .window = {2}}, rng);
  plain.on_patches.weight = scaled.on_patches.weight * 1.5;  // σ_w/sqrt(taps·in)
  plain.on_patches.bias = scaled.on_patches.bias * 0.5;
  const Tensor x = normal({2, 5, 2}, rng);
  EXPECT_TRUE(all_close(scaled(x), plain(x), 1e-5, 1e-5));
}

TEST(Conv, ReadsMaskedPositionsAsZeros) {
  Generator rng(3);
  const Conv1d layer({.in = 2, .out = 3, .window = {3}}, rng);
  const Tensor x = normal({1, 4, 2}, rng);
  const Tensor mask = cast(tensor({1, 1, 0, 0}, {1, 4}), boolean);
  const auto tokens = [](const Tensor& y) { return slice(y, 1, {.stop = 2}); };
  EXPECT_TRUE(all_equal(tokens(layer(x, mask)), layer(tokens(x))));
  const Conv1d strided({.in = 2, .out = 3, .window = {3}, .stride = {2}}, rng);
  test::expect_error([&] { strided(x, mask); }, "makes positions [2] of [4]");
  test::expect_error(
      [&] {
        layer(x, ones({1, 3}, boolean));
      },
      "bool [1, 4], one element per position of inputs [1, 4, 2], true = token; got bool [1, 3]");
}

TEST(Conv, HasGradients) {
  Generator rng(4);
  Conv2d layer({.in = 2, .out = 2, .window = {3, 2}, .stride = {2, 1}}, rng);
  layer.to(f64);
  EXPECT_TRUE(gradcheck(
      [&](const std::vector<Tensor>& in) {
        layer.on_patches.weight = in[1];
        return layer(in[0]);
      },
      {normal({2, 3, 4, 2}, rng, 0, 1, f64).set_requires_grad(),
       normal({2, 12}, rng, 0, 1, f64).set_requires_grad()}));
}

TEST(Conv, ChecksOptionsAndShapes) {
  Generator rng(1);
  const auto make = [&](Shape window, Shape stride) {
    Conv2d({.in = 2, .out = 3, .window = window, .stride = stride}, rng);
  };
  test::expect_error([&] { make({3}, {}); }, "[Conv2d] needs 2 window sizes, got [3]");
  test::expect_error([&] { make({3, 0}, {}); }, "must be positive");
  test::expect_error([&] { make({3, 3}, {1}); }, "there are 2 window sizes and 1 strides");
  test::expect_error([&] { Conv1d({.in = 0, .out = 3, .window = {3}}, rng); }, "got in = 0");
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  test::expect_error([&] { make({huge, huge}, {}); }, "is more than 2^60");
  const Conv2d layer({.in = 2, .out = 3, .window = {3, 3}}, rng);
  test::expect_error([&] { layer(ones({4, 5, 2})); }, "expects [N, H, W, 2], got shape [4, 5, 2]");
  test::expect_error([&] { layer(ones({4, 5, 5, 3})); }, "got shape [4, 5, 5, 3]");
  test::expect_error([&] { layer(ones({5, 6, 2})); }, "; give it a batch axis: unsqueeze(x, 0)");
  const Tensor torch = ones({2, 5, 6});
  test::expect_error(
      [&] { layer(torch); },
      "; channels come last, after a batch axis: unsqueeze(permute(x, {1, 2, 0}), 0)");
  layer(unsqueeze(permute(torch, {1, 2, 0}), 0));
  const Conv1d series({.in = 2, .out = 3, .window = {3}}, rng);
  test::expect_error([&] { series(ones({2, 5})); }, "unsqueeze(transpose(x), 0)");
  series(unsqueeze(transpose(ones({2, 5})), 0));
  EXPECT_EQ(layer.describe(), "Conv2d(2 → 3, window [3, 3], stride [1, 1], same)");
}

// --- pooling ---

TEST(AveragePool, CountsWhatIsThere) {
  const Tensor x = ramp({1, 4, 1});  // 1 2 3 4
  const auto pooled = [&](const PoolOptions& options) { return flatten(AveragePool(options)(x)); };
  EXPECT_TRUE(all_equal(pooled({.window = {2}}), tensor({1.5, 3.5})));
  EXPECT_TRUE(all_equal(pooled({.window = {3}, .stride = {1}, .padding = Padding::same}),
                        tensor({1.5, 2, 3, 3.5})));
  EXPECT_TRUE(all_equal(pooled({.window = {2}, .stride = {1}, .padding = Padding::circular}),
                        tensor({1.5, 2.5, 3.5, 2.5})));
  const Tensor mask = cast(tensor({1, 1, 1, 0}, {1, 4}), boolean);
  const AveragePool near({.window = {3}, .stride = {1}, .padding = Padding::same});
  EXPECT_TRUE(all_equal(flatten(near(x, mask)), tensor({1.5, 2, 2.5, 3})));
  const Tensor image = ramp({1, 2, 4, 1});
  EXPECT_TRUE(all_equal(flatten(AveragePool({.window = {2, 2}})(image)), tensor({3.5, 5.5})));
  test::expect_error([&] { AveragePool({.window = {2}})(x, mask); }, "makes positions [2] of [4]");
  test::expect_error([&] { AveragePool({.window = {2}})(image); }, "has windows over 1 axes");
  test::expect_error([&] { AveragePool({}); }, "needs the size of a window");
  test::expect_error([&] { AveragePool({.window = {5}})(x); }, "a window of 5 does not fit");
}

TEST(Pooling, LayersTakeSequencesAndImages) {
  const Tensor x = ramp({1, 2, 2, 2});
  const Tensor mask = cast(tensor({1, 0, 0, 1}, {1, 4}), boolean);
  EXPECT_TRUE(all_equal(MeanPositions()(x), tensor({4, 5}, {1, 2})));
  EXPECT_TRUE(all_equal(MeanPositions()(x, mask), tensor({4, 5}, {1, 2})));
  EXPECT_TRUE(all_equal(SumPositions()(x), tensor({16, 20}, {1, 2})));
  EXPECT_TRUE(all_equal(SumPositions()(x, mask), tensor({8, 10}, {1, 2})));
  EXPECT_TRUE(all_equal(Flatten()(x), ramp({1, 8})));
  EXPECT_TRUE(all_equal(Flatten()(x, mask), tensor({1, 2, 0, 0, 0, 0, 7, 8}, {1, 8})));
  EXPECT_TRUE(all_equal(Flatten()(ramp({3, 2})), ramp({3, 2})));
  EXPECT_TRUE(all_equal(FlattenPositions()(x), ramp({1, 4, 2})));
  const Tensor none = zeros({1, 4}, boolean);
  EXPECT_TRUE(all_equal(MeanPositions()(x, none), zeros({1, 2})));
  EXPECT_TRUE(all_equal(SumPositions()(x, none), zeros({1, 2})));
  test::expect_error([&] { MeanPositions()(ramp({3, 2})); }, "got shape [3, 2]");
}

}  // namespace
}  // namespace ladon::extra_conv_test
