// Layers: linear, embedding, norm, positions, pooling, Transformer; and initializers.

#include "ladon/layers/layers.h"

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/tests/support.h"

namespace ladon::layers_layers_test {
namespace {

TEST(Linear, IsAnAffineMap) {
  Generator rng(1);
  Linear layer({.in = 2, .out = 3}, rng);
  layer.weight = tensor({1, 2, 3, 4, 5, 6}, {3, 2});
  layer.bias = tensor({10, 20, 30});
  EXPECT_TRUE(all_equal(layer(tensor({1, -1}, {1, 1, 2})), tensor({9, 19, 29}, {1, 1, 3})));
  EXPECT_EQ(Linear({.in = 2, .out = 3, .bias = false}, rng).parameters().size(), 1u);
  test::expect_error([&] { Linear({.in = 0, .out = 3}, rng); }, "got in = 0, out = 3");
  test::expect_error([&] { layer(ones({4, 5})); }, "[4, 5]");
}

TEST(Embedding, PaddingRowIsZeroAndStays) {
  Generator rng(1);
  Embedding table({.count = 4, .dim = 3, .padding_index = 0}, rng);
  const Tensor y = table(tensor({0, 2, 2, 0}, {2, 2}, i64));
  EXPECT_EQ(y.shape(), (Shape{2, 2, 3}));
  EXPECT_TRUE(all_equal(at(y, {0, 0}), zeros({3})));
  backward(sum(y));
  EXPECT_TRUE(all_equal(table.weight.grad(), tensor({0, 0, 0, 0, 0, 0, 2, 2, 2, 0, 0, 0}, {4, 3})));
  test::expect_error([&] { table(tensor({4}, i64)); }, "4");
  test::expect_error(
      [&] {
        table(tensor({0, 2, -1}, i64));
      },
      "[embedding] index -1 at position 2 is outside [0, 4)");
  test::expect_error([&] { Embedding({.count = 4, .dim = 3, .padding_index = 4}, rng); },
                     "padding_index 4");
}

TEST(LayerNorm, NormalizesTheLastAxis) {
  Generator rng(1);
  const LayerNorm layer({.dim = 8});
  const Tensor y = layer(normal({5, 8}, rng, 3, 2));
  EXPECT_TRUE(all_close(mean(y, -1), zeros({5}), 0, 1e-5));
  EXPECT_TRUE(all_close(var(y, -1, Dims::drop, 0), ones({5}), 1e-4, 0));
  test::expect_error([&] { layer(ones({5, 7})); }, "[.., 8], got shape [5, 7]");
}

TEST(Positions, SinusoidsMatchTheFormula) {
  const Tensor table = sinusoidal_table(10, 6, f64);
  EXPECT_DOUBLE_EQ(at(table, {7, 2}).item(), std::sin(7 / std::pow(10000.0, 2.0 / 6)));
  EXPECT_DOUBLE_EQ(at(table, {7, 5}).item(), std::cos(7 / std::pow(10000.0, 4.0 / 6)));
  EXPECT_TRUE(all_equal(SinusoidalPositions()(zeros({2, 10, 6}, f64)), expand(table, {2, 10, 6})));
}

TEST(Positions, OfHugeSizesAreErrorsOrEmpty) {
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(sinusoidal_table(max_count, 0).count(), 0);
  Generator rng(1);
  test::expect_error(
      [&] {
        RandomPositions({.grid = {huge, huge}, .in = 1}, rng);
      },
      "multiply to more than 2^60");
}

TEST(Positions, LearnedTableHasAnEnd) {
  Generator rng(1);
  const LearnedPositions layer({.max_length = 4, .dim = 3}, rng);
  const Tensor expected = expand(slice(layer.weight, 0, {.stop = 2}), {5, 2, 3});
  EXPECT_TRUE(all_equal(layer(zeros({5, 2, 3})), expected));
  test::expect_error([&] { layer(zeros({5, 6, 3})); }, "has 6 positions, the table 4");
}

TEST(Pooling, ChecksItsMaskWhateverItsKind) {
  for (const Pooling kind : {Pooling::mean, Pooling::max, Pooling::first}) {
    EXPECT_NO_THROW(pool(kind, ones({2, 3, 4}), ones({2, 3}, boolean)));
    test::expect_error([&] { pool(kind, ones({2, 3, 4}), ones({2, 3})); }, "mask must be bool");
    test::expect_error([&] { pool(kind, ones({2, 3, 4}), ones({2, 4}, boolean)); }, "[2, 3], got");
  }
}

TEST(Pooling, LeavesPaddingOut) {
  const Tensor x = tensor({1, -8, 3, -6, 5, -1, 7, 9}, {2, 2, 2});
  const Tensor mask = cast(tensor({1, 1, 0, 0}, {2, 2}), boolean);
  EXPECT_TRUE(all_equal(mean_positions(x, mask), tensor({2, -7, 0, 0}, {2, 2})));
  EXPECT_TRUE(all_equal(max_positions(x, mask), tensor({3, -6, 0, 0}, {2, 2})));
  EXPECT_TRUE(all_equal(max_positions(x), tensor({3, -6, 7, 9}, {2, 2})));
  EXPECT_TRUE(all_equal(first_token(x), tensor({1, -8, 5, -1}, {2, 2})));
  EXPECT_TRUE(all_equal(pool(pooling_from_name("max"), x), max_positions(x)));
  test::expect_error(
      [&] {
        mean_positions(x, ones({2, 3}, boolean));
      },
      "bool [2, 2], got bool [2, 3]");
  test::expect_error([&] { pooling_from_name("median"); }, "mean, max, first");
}

TEST(Pooling, HasMeansWhoseSumsAreNotInTheRange) {
  const Tensor x = full({2, 4, 3}, 3e38, f32),
               mask = tensor({1, 1, 1, 0, 1, 1, 1, 1}, {2, 4}, boolean);
  EXPECT_TRUE(all_close(mean_positions(x), full({2, 3}, 3e38, f32), 1e-6, 0));
  EXPECT_TRUE(all_close(mean_positions(x, mask), full({2, 3}, 3e38, f32), 1e-6, 0));
}

TEST(Pooling, AnEmptySequenceHasZeroGradient) {
  const Tensor x = ones({1, 3, 2}).set_requires_grad();
  const Tensor none = zeros({1, 3}, boolean);
  backward(sum(mean_positions(x, none) + max_positions(x, none)));
  EXPECT_TRUE(all_equal(x.grad(), zeros({1, 3, 2})));
}

// Mean and variance of n draws against their law, within 5 standard errors: the variance of a
// sample variance is at most (kurtosis − 1)σ⁴/n, with kurtosis 3 for the normal and less for the
// others.
void expect_moments(const Tensor& x, double variance) {
  const auto n = static_cast<double>(x.count());
  EXPECT_NEAR(mean(cast(x, f64)).item(), 0, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(var(cast(x, f64)).item(), variance, 5 * variance * std::sqrt(2 / n));
}

TEST(Init, VariancesFollowTheFans) {
  Generator rng(1);
  const Shape shape{200, 300};
  expect_moments(initialize(Init::normal, shape, {.gain = 2}, rng), 4);
  expect_moments(initialize(Init::xavier_uniform, shape, rng), 2.0 / 500);
  expect_moments(initialize(Init::xavier_normal, shape, rng), 2.0 / 500);
  expect_moments(initialize(Init::kaiming_uniform, shape, rng), 1.0 / 300);
  expect_moments(initialize(Init::kaiming_normal, shape, {.gain = std::sqrt(2.0)}, rng), 2.0 / 300);
  expect_moments(initialize(Init::lecun_normal, shape, rng), 1.0 / 300);
  expect_moments(initialize(Init::kaiming_normal, {20, 30, 7, 7}, rng), 1.0 / (30 * 49));
  EXPECT_LE(amax(abs(initialize(Init::truncated_normal, shape, rng))).item(), 2.0);
}

TEST(Init, HugeShapesAreAnError) {
  Generator rng(1);
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  for (const Init init : {Init::kaiming_normal, Init::orthogonal, Init::zeros})
    test::expect_error(
        [&] {
          initialize(init, {1, 1, huge, huge}, rng);
        },
        "multiply to more than 2^60");
}

TEST(Init, OrthogonalHasOrthonormalSides) {
  Generator rng(1);
  const Tensor wide = initialize(Init::orthogonal, {3, 5}, {.dtype = f64}, rng);
  const Tensor tall = initialize(Init::orthogonal, {5, 3}, {.gain = 2, .dtype = f64}, rng);
  EXPECT_TRUE(all_close(matmul(wide, transpose(wide)), eye(3, f64), 1e-12, 1e-12));
  EXPECT_TRUE(all_close(matmul(transpose(tall), tall), eye(3, f64) * 4.0, 1e-12, 1e-12));
}

TEST(Init, NamesThereAndBack) {
  for (int i = 0; i <= static_cast<int>(Init::orthogonal); ++i)
    EXPECT_EQ(init_from_name(to_string(static_cast<Init>(i))), static_cast<Init>(i));
  for (int i = 0; i < static_cast<int>(Nonlinearity::count); ++i)
    EXPECT_EQ(nonlinearity_from_name(to_string(static_cast<Nonlinearity>(i))),
              static_cast<Nonlinearity>(i));
  Generator rng(1);
  test::expect_error([] { init_from_name("glorot"); }, "unknown name `glorot`");
  test::expect_error([&] { initialize(Init::xavier_normal, {3}, rng); }, "got shape [3]");
}

class Placement : public testing::TestWithParam<NormPlacement> {};

TEST_P(Placement, EncoderGradientsAreRight) {
  Generator rng(1);
  TransformerEncoder encoder(
      {.layer = {.dim = 4, .heads = 2, .hidden = 6, .norm_placement = GetParam()}, .layers = 2},
      rng);
  encoder.to(f64);
  encoder.eval();
  const Tensor x = normal({2, 3, 4}, rng, 0, 1, f64).set_requires_grad();
  const Tensor key_mask = cast(tensor({1, 1, 1, 1, 1, 0}, {2, 3}), boolean);
  EXPECT_TRUE(gradcheck(
      [&](const std::vector<Tensor>& in) { return encoder.forward(in[0], {.key_mask = key_mask}); },
      {x}));
}

TEST_P(Placement, PaddingChangesNothing) {
  Generator rng(2);
  TransformerEncoder encoder(
      {.layer = {.dim = 4, .heads = 2, .norm_placement = GetParam()}, .layers = 2}, rng);
  encoder.to(f64);
  encoder.eval();
  const Tensor x = normal({1, 3, 4}, rng, 0, 1, f64);
  const Tensor key_mask = cast(tensor({1, 1, 1, 0, 0}, {1, 5}), boolean);
  const Tensor y = encoder.forward(pad(x, {0, 0, 0}, {0, 2, 0}, 5), {.key_mask = key_mask});
  EXPECT_TRUE(all_close(slice(y, 1, {.stop = 3}), encoder(x), 1e-10, 1e-10));
}

TEST_P(Placement, WeightsComeFromTheSameRun) {
  Generator rng(4);
  TransformerEncoder encoder(
      {.layer = {.dim = 4, .heads = 2, .norm_placement = GetParam()}, .layers = 2}, rng);
  encoder.eval();
  const Tensor x = normal({2, 3, 4}, rng);
  const auto details = encoder.forward_with_weights(x, {});
  EXPECT_TRUE(all_close(details.output, encoder(x), 1e-5, 1e-6));
  ASSERT_EQ(details.weights.size(), 2u);
  EXPECT_TRUE(all_close(sum(details.weights[1], -1), ones({2, 2, 3}), 1e-5, 0));
}

INSTANTIATE_TEST_SUITE_P(Transformer, Placement,
                         testing::Values(NormPlacement::pre, NormPlacement::post));

TEST(Transformer, PostNormEndsNormalizedAndPreNormKeepsTheStream) {
  Generator rng(3);
  TransformerEncoderLayer post({.dim = 8, .heads = 2, .norm_placement = NormPlacement::post}, rng);
  post.eval();
  const Tensor x = normal({2, 3, 8}, rng, 5, 3);
  EXPECT_TRUE(all_close(mean(post(x), -1), zeros({2, 3}), 0, 1e-5));
  // With both branches silenced pre-norm is the identity.
  TransformerEncoderLayer pre({.dim = 8, .heads = 2, .norm_placement = NormPlacement::pre}, rng);
  pre.eval();
  fill_(pre.attention->output.detach(), 0);
  fill_(pre.feedforward.contract->weight.detach(), 0);
  EXPECT_TRUE(all_equal(pre(x), x));
}

// As a layer among others it passes the mask on: tokens do not see the padding.
/// [N, T, 1] → [N, T], and back.
struct WithoutChannels : Layer {
  Tensor forward(const Tensor& x) const override { return squeeze(x, 2); }
  bool per_position() const override { return true; }
  void visit(Visitor&) override {}
  std::string describe() const override { return "WithoutChannels"; }
};
struct WithChannels : Layer {
  Tensor forward(const Tensor& x) const override { return unsqueeze(x, 2); }
  bool per_position() const override { return true; }
  void visit(Visitor&) override {}
  std::string describe() const override { return "WithChannels"; }
};

TEST(Sequential, KeepsItsMaskBehindNumbersAtPositions) {
  Generator rng(1), same(1);
  const Sequential plain(Linear({.in = 3, .out = 1}, rng), MeanPositions());
  const Sequential reshaped(Linear({.in = 3, .out = 1}, same), WithoutChannels(), WithChannels(),
                            MeanPositions());
  const Tensor x = normal({2, 4, 3}, rng);
  const Tensor mask = less(tensor({0, 0, 1, 1, 0, 0, 0, 1}, {2, 4}), 0.5);
  EXPECT_TRUE(all_equal(reshaped(x, mask), plain(x, mask)));
  EXPECT_FALSE(all_close(plain(x, mask), plain(x)));
  const Sequential pooled(MeanPositions{}, WithChannels{}, MeanPositions{});
  EXPECT_TRUE(all_equal(pooled(x, mask), mean(MeanPositions()(x, mask), 1, Dims::keep)))
      << "its three positions are others than those of the mask";
}

TEST(Transformer, LeavesPaddingOutInASequential) {
  Generator rng(3);
  Sequential net(
      TransformerEncoder({.layer = {.dim = 8, .heads = 2, .dropout = 0}, .layers = 2}, rng),
      MeanPositions());
  const Tensor x = normal({1, 5, 8}, rng);
  const Tensor mask = cast(tensor({1, 1, 1, 0, 0}, {1, 5}), boolean);
  EXPECT_TRUE(all_close(net(x, mask), net(slice(x, 1, {.stop = 3})), 1e-5, 1e-6));
}

}  // namespace
}  // namespace ladon::layers_layers_test
