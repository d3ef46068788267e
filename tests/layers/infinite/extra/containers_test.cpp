// Infinite-width limits of sums, products, residual blocks and concatenations, compared with finite
// networks.

#include "ladon/tests/layers/infinite/empirical.h"
#include "ladon/tests/layers/infinite/monte_carlo.h"
#include "ladon/tests/support.h"

namespace ladon::containers_test {
namespace {

using infinite::limit;

constexpr std::int64_t width = 96;

Linear dense(std::int64_t in, std::int64_t out, Generator& rng) {
  return Linear({.in = in,
                 .out = out,
                 .parameterization = Parameterization::ntk,
                 .weight_std = 1.2,
                 .bias_std = 0.3},
                rng);
}

Activation relu() { return Activation(Nonlinearity::relu); }

struct Data {
  Tensor a, b;
  Data() {
    Generator rng(41);
    a = normal({2, 3, 4}, rng, 0, 1, f64);
    b = normal({2, 3, 4}, rng, 0, 1, f64);
  }
};

void expect(const infinite::NetworkFactory& make, std::int64_t draws = 400) {
  const Data data;
  test::expect_sharp_limit(make, data.a, data.b, draws);
}

TEST(SumLimit, OfAResidualBlock) {
  expect([](Generator& rng) {
    return std::make_unique<Sequential>(
        dense(4, width, rng), SumBranches(Identity(), Sequential(relu(), dense(width, width, rng))),
        SumBranches(Sequential(relu(), dense(width, width, rng)), Identity()), relu(),
        MeanPositions(), dense(width, 64, rng));
  });
}

TEST(SumLimit, OfThreeBranches) {
  expect([](Generator& rng) {
    return std::make_unique<Sequential>(
        dense(4, width, rng),
        SumBranches(relu(), dense(width, width, rng), Sequential(relu(), dense(width, width, rng))),
        dense(width, 64, rng));
  });
}

// Of any rank: A is averaged over, and B has the gradient.
TEST(LowRankLimit, IsTheMeanOverItsDraws) {
  for (const bool stabilized : {false, true})
    expect([=](Generator& rng) {
      return std::make_unique<Sequential>(
          dense(4, width, rng), relu(),
          LowRank(dense(width, width, rng), {.rank = 4, .alpha = 3, .stabilized = stabilized}, rng),
          relu(), MeanPositions(), dense(width, 64, rng));
    });
}

TEST(SumLimit, RefusesCorrelatedBranches) {
  Generator rng(1);
  const Data data;
  const Sequential net(dense(4, 8, rng), SumBranches(Identity(), relu()));
  test::expect_error([&] { limit(net)(data.a); }, "end all but one branch in a Linear");
  const Sequential product(dense(4, 8, rng), MultiplyBranches(Identity(), relu()));
  test::expect_error([&] { limit(product)(data.a); }, "their outputs are correlated");
  test::expect_error([&] { limit(SumBranches())(data.a); }, "has no branches");
}

// The identity of a residual block passes on that its channels have mean zero, as LayerNorm needs.
TEST(SumLimit, KnowsWhatIsOfMeanZero) {
  Generator rng(1);
  const Data data;
  const auto k = [&](const Layer& layer) { return limit(layer)(data.a); };
  EXPECT_TRUE(
      k(Sequential(dense(4, 8, rng), SumBranches(Identity(), dense(8, 8, rng)))).law.independent());
  EXPECT_TRUE(k(SumBranches(dense(4, 8, rng), dense(4, 8, rng))).law.independent());
  EXPECT_FALSE(k(SumBranches(Identity(), dense(4, 4, rng))).law.independent());
  EXPECT_FALSE(
      k(Sequential(dense(4, 8, rng), SumBranches(relu(), dense(8, 8, rng)))).law.independent());
}

TEST(ProductLimit, OfAGate) {
  expect([](Generator& rng) {
    return std::make_unique<Sequential>(
        dense(4, width, rng), relu(),
        MultiplyBranches(Sequential(dense(width, width, rng), Activation(Nonlinearity::sigmoid)),
                         dense(width, width, rng)),
        dense(width, 64, rng));
  });
}

TEST(ProductLimit, OfThreeFactors) {
  expect([](Generator& rng) {
    return std::make_unique<MultiplyBranches>(dense(4, 64, rng), dense(4, 64, rng),
                                              dense(4, 64, rng));
  });
}

TEST(ResidualLimit, MixesKernels) {
  expect([](Generator& rng) {
    auto net = std::make_unique<Sequential>();
    net->append(dense(4, width, rng));
    net->append(Residual(0.3, Sequential(relu(), dense(width, width, rng))));
    net->append(Residual(0.6, Sequential(relu(), dense(width, width, rng))));
    net->append(relu());
    net->append(dense(width, 64, rng));
    return net;
  });
  Generator rng(1);
  const Sequential net(dense(4, 8, rng), Residual(0.5, relu()));
  test::expect_error([&] { limit(net)(Data().a); }, "correlated with its input");
  const Sequential norm(dense(4, 8, rng), Residual(0.5, LayerNorm({.dim = 8})));
  test::expect_error([&] { limit(norm)(Data().a); }, "correlated with its input");
}

// A Transformer's block without its attention: normalization before and after residual sums.
TEST(ResidualLimit, AroundNormalization) {
  constexpr std::int64_t wide = 256;
  expect(
      [](Generator& rng) {
        const auto block = [&] {
          return Sequential(LayerNorm({.dim = wide, .eps = 0.1}), dense(wide, wide, rng), relu(),
                            dense(wide, wide, rng));
        };
        auto net =
            std::make_unique<Sequential>(dense(4, wide, rng), SumBranches(Identity(), block()));
        net->append(Residual(0.4, block()));
        net->append(LayerNorm({.dim = wide, .eps = 0.1}));
        net->append(dense(wide, 64, rng));
        return net;
      },
      200);
}

MultiHeadAttention attention(std::int64_t in, std::int64_t out, Generator& rng) {
  return MultiHeadAttention({.dim = in,
                             .heads = 2,
                             .head_dim = 256,
                             .value_head_dim = 64,
                             .out = out,
                             .form = {.scaling = AttentionScaling::linear, .tied = true},
                             .projection_bias = false,
                             .prior = {.parameterization = Parameterization::ntk}},
                            rng);
}

TEST(ResidualLimit, OfATransformer) {
  expect(
      [](Generator& rng) {
        constexpr std::int64_t wide = 256;
        const auto norm = [] { return LayerNorm({.dim = wide, .eps = 0.1}); };
        return std::make_unique<Sequential>(
            dense(4, wide, rng),
            SumBranches(Identity(), Sequential(norm(), attention(wide, wide, rng))),
            SumBranches(Identity(),
                        Sequential(norm(), dense(wide, wide, rng), relu(), dense(wide, wide, rng))),
            MeanPositions(), relu(), dense(wide, 64, rng));
      },
      200);
}

TEST(ActivationLimit, MayFollowAttention) {
  expect([](Generator& rng) {
    return std::make_unique<Sequential>(attention(4, 128, rng), relu(), dense(128, 64, rng));
  });
}

TEST(ConcatenateLimit, WeighsBranchesByTheirChannels) {
  const infinite::NetworkFactory make = [](Generator& rng) {
    return std::make_unique<Sequential>(
        dense(4, width, rng),
        ConcatenateBranches({width, width / 2, width}, relu(),
                            Sequential(dense(width, width / 2, rng), relu()), Identity()),
        dense(5 * width / 2, 64, rng));
  };
  expect(make);
}

TEST(ConcatenateLimit, ChecksWidths) {
  Generator rng(1);
  const Data data;
  const ConcatenateBranches wrong({8, 4}, dense(4, 8, rng), dense(4, 8, rng));
  test::expect_error([&] { wrong(data.a); }, "branch 1, Linear(4 → 8), should give 4 channels");
  const ConcatenateBranches few({8}, dense(4, 8, rng), dense(4, 8, rng));
  test::expect_error([&] { limit(few)(data.a); }, "has 2 branches, but 1 widths");
  const ConcatenateBranches right({8, 4}, dense(4, 8, rng), Identity());
  EXPECT_EQ(right(data.a).shape(), (Shape{2, 3, 12}));
}

TEST(ContainersLimit, LayerwiseIsTheContractionOfJacobians) {
  Generator rng(6);
  const Data data;
  Sequential net(dense(4, 5, rng), SumBranches(Identity(), Sequential(relu(), dense(5, 5, rng))),
                 ConcatenateBranches({5, 3}, Identity(), dense(5, 3, rng)),
                 MultiplyBranches(dense(8, 4, rng), Sequential(dense(8, 4, rng), relu())),
                 Residual(0.3, Sequential(relu(), dense(4, 4, rng))));
  test::expect_layerwise(net, data.a, data.b);
}

}  // namespace
}  // namespace ladon::containers_test
