// Positional encodings at infinite width, alone and inside attention.

#include "ladon/layers/attention/positional.h"
#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/tests/layers/infinite/attention/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon::positions_test {
namespace {

using infinite::Inputs;
using test::ntk;

constexpr std::int64_t width = 256;

/// Linear → positions → Linear, so that both what is added and what is trained are seen.
template <class P>
infinite::NetworkFactory between_linears(const P& make_positions, std::int64_t out_of_positions) {
  return [=](Generator& rng) {
    auto net = std::make_unique<Sequential>();
    net->append(Linear({.in = 4, .out = width, .parameterization = ntk, .weight_std = 1.1}, rng));
    net->append(make_positions(rng));
    net->append(Linear({.in = out_of_positions, .out = 64, .parameterization = ntk}, rng));
    return net;
  };
}

infinite::NetworkFactory between_linears(RandomPositionsOptions options) {
  options.in = width;
  const std::int64_t out = width + options.channels;
  return between_linears([options](Generator& rng) { return RandomPositions(options, rng); }, out);
}

RandomPositionsOptions beside(const Shape& grid, std::int64_t channels) {
  return {.grid = grid,
          .merge = PositionMerge::concat,
          .channels = channels,
          .stddev = 0.8,
          .correlation = decaying_correlation(0.4)};
}

TEST(RandomPositions, IndependentSum) {
  const auto x = test::blocks();
  test::expect_limit(between_linears({.grid = {3}, .stddev = 0.7}), x.a, x.b, test::fewer);
}

TEST(RandomPositions, DecayingSumOfShorterSequences) {
  const auto x = test::blocks();
  test::expect_limit(
      between_linears({.grid = {5}, .stddev = 0.7, .correlation = decaying_correlation(0.3)}), x.a,
      x.b, test::fewer);
}

TEST(RandomPositions, DecayingConcat) {
  const auto x = test::blocks();
  test::expect_limit(between_linears(beside({3}, 128)), x.a, x.b, test::fewer);
}

TEST(RandomPositions, OfImages) {
  Generator rng(3);
  const Tensor a = normal({2, 2, 2, 4}, rng, 0, 1, f64), b = normal({1, 2, 2, 4}, rng, 0, 1, f64);
  test::expect_limit(
      between_linears({.grid = {2, 2}, .stddev = 0.7, .correlation = decaying_correlation(0.5)}), a,
      b, test::fewer);
}

TEST(LearnedPositions, StandardParameterization) {
  const auto x = test::blocks();
  const auto make = [](Generator& rng) {
    return LearnedPositions({.max_length = 4, .dim = width, .stddev = 0.6}, rng);
  };
  test::expect_limit(between_linears(make, width), x.a, x.b, test::fewer);
}

TEST(RandomPositions, CorrelateAsTold) {
  Generator rng(1);
  const RandomPositions grid({.grid = {2, 3}, .in = 4, .correlation = decaying_correlation(0.5)},
                             rng);
  EXPECT_NEAR(at(grid.correlation, {0, 4}).item(), std::exp(-0.5 * 2), 1e-15);  // (0,0) and (1,1)
  EXPECT_NEAR(at(grid.correlation, {2, 3}).item(), std::exp(-0.5 * 5), 1e-15);  // (0,2) and (1,0)
  EXPECT_TRUE(all_close(matmul(grid.factor, transpose(grid.factor)), grid.correlation, 0, 1e-14));
}

TEST(RandomPositions, BadOptionsAreNamed) {
  Generator rng(1);
  test::expect_error(
      [&] {
        RandomPositions({.grid = {3}, .in = 4, .correlation = [](double d) { return d; }}, rng);
      },
      "not positive semi-definite: its smallest eigenvalue");
  test::expect_error([&] { RandomPositions({.grid = {3}, .in = 0}, rng); }, "must be positive");
  const RandomPositions positions({.grid = {3}, .in = 4}, rng);
  test::expect_error([&] { positions(ones({2, 4, 4})); }, "do not fit the grid [3]");
  test::expect_error(
      [&] {
        infinite::limit(positions)(ones({2, 4, 4}));
      },
      "inputs of positions [4] do not fit the grid [3]");
}

// Learned and sinusoidal positions took any axis −2 for positions: the columns of images, and the
// batch of vectors [batch, dim].
TEST(EveryPositions, AcceptsTheSameShapesForwardAndInTheLimit) {
  Generator rng(1);
  const auto random = [&](const Shape& grid, PositionMerge merge) {
    const std::int64_t channels = merge == PositionMerge::concat ? 4 : 0;
    return RandomPositions({.grid = grid, .in = 8, .merge = merge, .channels = channels}, rng);
  };
  const auto attention = [&](const Shape& grid) {
    return MultiHeadAttention({.dim = 8,
                               .heads = 2,
                               .form = {.weighting = Weighting::identity},
                               .positions = AttentionPositions{.encoding = {.grid = grid}},
                               .prior = {.parameterization = ntk}},
                              rng);
  };
  std::vector<Sequential> rows;
  const auto add = [&](auto layer) {
    rows.emplace_back(Linear({.in = 4, .out = 8, .parameterization = ntk}, rng), std::move(layer));
  };
  add(SinusoidalPositions());
  add(LearnedPositions({.max_length = 6, .dim = 8}, rng));
  for (const Shape& grid : {Shape{6}, Shape{2, 3}}) {
    add(random(grid, PositionMerge::sum));
    add(random(grid, PositionMerge::concat));
    add(attention(grid));
  }
  const auto takes = [](const std::function<void()>& f) {
    try {
      f();
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  for (const Sequential& row : rows)
    for (const Shape& shape : {Shape{6, 4}, Shape{2, 5, 4}, Shape{2, 6, 4}, Shape{2, 7, 4},
                               Shape{2, 2, 3, 4}, Shape{2, 3, 2, 4}, Shape{2, 3, 3, 4}}) {
      const bool forward = takes([&] { row(ones(shape)); });
      EXPECT_EQ(forward, takes([&] { infinite::limit(row)(ones(shape)); }))
          << row.describe() << " of " << shape << (forward ? " accepted forward" : "");
      EXPECT_FALSE(shape.rank() == 2 && forward) << row.describe();
    }
  test::expect_error([&] { rows[0](ones({2, 2, 3, 4})); }, "put FlattenPositions before it");
  test::expect_error([&] { rows[1](ones({2, 2, 3, 4})); }, "put FlattenPositions before it");
  test::expect_error([&] { rows[1](ones({6, 4})); }, "unsqueeze(x, 0)");
  const LearnedPositions learned({.max_length = 6, .dim = 8}, rng);
  test::expect_error([&] { learned(ones({2, 6, 1})); }, "[batch, T, 8], got shape [2, 6, 1]");
}

// --- inside attention ---

MultiHeadAttentionOptions attending(AttentionScaling scaling, Weighting zeta) {
  const bool linear = scaling == AttentionScaling::linear;
  auto options = linear ? test::wide(scaling, zeta, 1, width) : test::wide(scaling, zeta, 16, 32);
  options.value_head_dim = linear ? 16 : 4;
  return options;
}

void expect(MultiHeadAttentionOptions options, const RandomPositionsOptions& positions,
            bool values_see_positions) {
  options.positions = {.encoding = positions, .values = values_see_positions};
  const bool linear = options.form.scaling == AttentionScaling::linear;
  const auto x = test::blocks();
  test::expect_limit(test::behind_linear(options, linear ? width : width / 2), x.a, x.b,
                     test::fewer);
}

const RandomPositionsOptions decaying_sum{
    .grid = {4}, .stddev = 0.8, .correlation = decaying_correlation(0.4)};

TEST(AttentionPositions, SumWithLinearScaling) {
  expect(attending(AttentionScaling::linear, Weighting::softmax), decaying_sum, false);
}
TEST(AttentionPositions, SumSeenByValues) {
  expect(attending(AttentionScaling::linear, Weighting::softmax), decaying_sum, true);
}
TEST(AttentionPositions, ConcatWithLinearScaling) {
  expect(attending(AttentionScaling::linear, Weighting::softmax), beside({3}, 128), false);
}
TEST(AttentionPositions, ConcatSeenByValues) {
  expect(attending(AttentionScaling::linear, Weighting::softmax), beside({3}, 128), true);
}
TEST(AttentionPositions, SumWithSqrtScaling) {
  expect(attending(AttentionScaling::sqrt, Weighting::identity), decaying_sum, false);
}
TEST(AttentionPositions, SumWithSqrtScalingAndSoftmax) {
  auto options = attending(AttentionScaling::sqrt, Weighting::softmax);
  options.limit_draws.samples = 20000;
  expect(options, decaying_sum, true);
}
TEST(AttentionPositions, IndependentConcatWithSqrtScaling) {
  auto positions = beside({3}, 64);
  positions.correlation = {};
  expect(attending(AttentionScaling::sqrt, Weighting::identity), positions, true);
}

TEST(AttentionPositions, StructuredOverImages) {
  auto options = attending(AttentionScaling::linear, Weighting::softmax);
  options.positions = {
      .encoding = {.grid = {2, 2}, .stddev = 0.9, .correlation = decaying_correlation(0.5)}};
  Generator rng(3);
  const Tensor a = normal({2, 2, 2, 4}, rng, 0, 1, f64), b = normal({1, 2, 2, 4}, rng, 0, 1, f64);
  test::expect_limit(test::behind_linear(options, width), a, b, test::fewer);
}

TEST(AttentionPositions, LayerwiseTangentKernelIsTheContractionOfJacobians) {
  Generator rng(5);
  for (const bool values : {false, true})
    for (const auto& positions : {decaying_sum, beside({4}, 2)}) {
      MultiHeadAttentionOptions options{.dim = 4,
                                        .heads = 2,
                                        .positions = AttentionPositions{positions, values},
                                        .prior = {.parameterization = ntk, .bias_std = 0.3}};
      MultiHeadAttention layer(options, rng);
      layer.to(f64);
      const auto x = test::blocks();
      const auto layerwise = infinite::empirical_kernel(layer, x.a, x.b);
      const auto contraction =
          infinite::empirical_kernel(layer, x.a, x.b, {.method = infinite::NtkMethod::jacobian});
      EXPECT_TRUE(all_close(layerwise.ntk, contraction.ntk, 1e-10, 1e-12));
    }
}

// --- a fixed table ---

Linear dense(std::int64_t in, std::int64_t out, Generator& rng) {
  return Linear({.in = in, .out = out, .parameterization = Parameterization::ntk}, rng);
}

// The table's channels have means that LayerNorm subtracts, whatever stands between.
TEST(SinusoidalLimit, OfNetworks) {
  const auto make = [](int kind) {
    return [kind](Generator& rng) {
      constexpr std::int64_t wide = 256;
      auto net = std::make_unique<Sequential>(dense(4, wide, rng), SinusoidalPositions());
      if (kind == 1) net->append(Residual(0.3, dense(wide, wide, rng)));
      if (kind == 2) net->append(SumBranches(dense(wide, wide, rng), Identity()));
      net->append(LayerNorm({.dim = wide}));
      net->append(dense(wide, 16, rng));
      return net;
    };
  };
  const test::Blocks x = test::padded();
  for (const int kind : {0, 1, 2}) test::expect_limit(make(kind), x.a, x.b, test::fewer);
}

TEST(SinusoidalLimit, ProductsOfChannelsAreTheIntegral) {
  Generator rng(1);
  const Sequential net(dense(4, 8, rng), SinusoidalPositions());
  const Inputs zeros_in(zeros({1, 40, 4}, f64));
  const Tensor k = at(infinite::limit(net)(zeros_in).nngp, {0, 0});
  const Tensor table = sinusoidal_table(40, 200000, f64);
  const Tensor many = matmul(table, transpose(table)) / 200000.0;
  EXPECT_TRUE(all_close(k, many, 0, 2e-5));
  EXPECT_NEAR(at(k, {3, 3}).item(), 0.5, 1e-14);
}

// Before these, the channels' means were forgotten, and LayerNorm subtracted none.
TEST(SinusoidalLimit, LeavesItsMeansToLayerNormBehindOtherPositions) {
  const auto x = test::blocks();
  Generator rng(1);
  const auto behind = [&](auto layer) {
    const Sequential net(dense(4, 8, rng), SinusoidalPositions(), std::move(layer),
                         LayerNorm({.dim = 8, .affine = false}));
    return infinite::limit(net)(x.a, x.b, infinite::Get::nngp).nngp;
  };
  const Tensor plain = behind(Identity());
  EXPECT_TRUE(all_close(behind(LearnedPositions({.max_length = 3, .dim = 8, .stddev = 0}, rng)),
                        plain, 1e-14, 1e-14));
}

TEST(SinusoidalLimit, RefusesWhatItCannotFollow) {
  Generator rng(1);
  const Sequential net(dense(4, 8, rng), SinusoidalPositions(), Activation(Nonlinearity::relu));
  test::expect_error([&] { infinite::limit(net)(test::blocks().a); }, "needs Gaussian inputs");
  const SinusoidalPositions first;  // of data x the products x·P are not known
  test::expect_error([&] { infinite::limit(first)(test::blocks().a); }, "channels of mean zero");
  const Sequential twice(dense(4, 8, rng), SinusoidalPositions(), SinusoidalPositions());
  test::expect_error([&] { infinite::limit(twice)(test::blocks().a); }, "channels of mean zero");
  const Sequential again(dense(4, 8, rng), SinusoidalPositions(), LayerNorm({.dim = 8}),
                         SinusoidalPositions());
  test::expect_error([&] { infinite::limit(again)(test::blocks().a); }, "channels of mean zero");
}

}  // namespace
}  // namespace ladon::positions_test
