// Infinite-width limits of pooling and flattening, compared with finite networks.

#include "ladon/tests/layers/infinite/monte_carlo.h"
#include "ladon/tests/support.h"

namespace ladon::pooling_test {
namespace {

using infinite::Inputs;

constexpr auto ntk = Parameterization::ntk;

/// Linear, pooling, Linear: 3 channels to `width` to 64.
template <class P>
infinite::NetworkFactory pooled(P pooling, std::int64_t positions = 1) {
  return [=](Generator& rng) {
    constexpr std::int64_t width = 48;
    auto net = std::make_unique<Sequential>();
    net->append(Linear(
        {.in = 3, .out = width, .parameterization = ntk, .weight_std = 1.2, .bias_std = 0.3}, rng));
    net->append(pooling);
    net->append(Linear({.in = width * positions,
                        .out = 64,
                        .parameterization = ntk,
                        .weight_std = 0.9,
                        .bias_std = 0.2},
                       rng));
    return net;
  };
}

struct Data {
  Tensor sequences[2], images[2];

  Data() {
    Generator rng(17);
    for (int i = 0; i < 2; ++i) {
      sequences[i] = normal({2, 4, 3}, rng, 0, 1, f64);
      images[i] = normal({2, 3, 2, 3}, rng, 0, 1, f64);
    }
  }
};

/// bool [2, n]: the second input has only `second` tokens.
Tensor mask(std::int64_t n, std::int64_t second) {
  Tensor m = ones({2, n}, boolean);
  for (std::int64_t t = second; t < n; ++t) fill_(at(m, {1, t}), 0);
  return m;
}

TEST(PoolingLimit, MeanOverPositions) {
  const Data data;
  test::expect_sharp_limit(pooled(MeanPositions()), data.sequences[0], data.sequences[1]);
  test::expect_sharp_limit(pooled(MeanPositions()), data.images[0], data.images[1]);
}

TEST(PoolingLimit, OfTheFirstToken) {
  const Data data;
  test::expect_sharp_limit(pooled(FirstToken()), data.sequences[0], data.sequences[1]);
}

// A masked first position has no vector: the layer, pool() and the limit say so.
TEST(PoolingLimit, TheFirstTokenMustBeVisible) {
  const Tensor x = Data().sequences[0], all = mask(4, 4);
  Tensor hidden = mask(4, 3);
  fill_(at(hidden, {1, 0}), 0);
  const std::string what = "the first position of input 1 is masked";
  test::expect_error([&] { FirstToken().forward_masked(x, hidden); }, what);
  test::expect_error([&] { pool(Pooling::first, x, hidden); }, what);
  EXPECT_TRUE(all_equal(pool(Pooling::first, x, all), first_token(x)));
  EXPECT_TRUE(all_equal(FirstToken().forward_masked(x, mask(4, 1)), first_token(x)));
  Generator rng(1);
  const auto network = pooled(FirstToken())(rng);
  const infinite::Limit limit = infinite::limit(*network);
  EXPECT_NO_THROW(limit(Inputs(x, mask(4, 1))));
  test::expect_error([&] { limit(Inputs(x, hidden)); }, "is masked");
  test::expect_error([&] { limit(Inputs(x, all), Inputs(x, hidden)); }, "is masked");
}

TEST(PoolingLimit, SumOverPositions) {
  const Data data;
  test::expect_sharp_limit(pooled(SumPositions()), data.sequences[0], data.sequences[1]);
}

TEST(PoolingLimit, OverVisiblePositions) {
  const Data data;
  const Inputs a(data.sequences[0], mask(4, 1)), b(data.sequences[1], mask(4, 3));
  test::expect_sharp_limit(pooled(MeanPositions()), a, b);
  test::expect_sharp_limit(pooled(SumPositions()), a, b);
  test::expect_sharp_limit(pooled(Flatten(), 4), a, b);
  test::expect_sharp_limit(
      pooled(AveragePool({.window = {3}, .stride = {1}, .padding = Padding::same})), a, b);
}

TEST(PoolingLimit, Flatten) {
  const Data data;
  test::expect_sharp_limit(pooled(Flatten(), 4), data.sequences[0], data.sequences[1]);
  test::expect_sharp_limit(pooled(Flatten(), 6), data.images[0], data.images[1]);
}

TEST(PoolingLimit, AverageOverWindows) {
  const Data data;
  test::expect_sharp_limit(pooled(AveragePool({.window = {2}})), data.sequences[0],
                           data.sequences[1]);
  test::expect_sharp_limit(
      pooled(AveragePool({.window = {3}, .stride = {2}, .padding = Padding::same})),
      data.sequences[0], data.sequences[1]);
  test::expect_sharp_limit(
      pooled(AveragePool({.window = {2, 2}, .stride = {1, 1}, .padding = Padding::circular})),
      [&] { return Inputs(data.images[0]); }(), data.images[1]);
  test::expect_sharp_limit(pooled(AveragePool({.window = {2, 1}, .stride = {1, 1}})),
                           data.images[0], data.images[1]);
  test::expect_sharp_limit(
      pooled(AveragePool(
          {.window = {2}, .stride = {1}, .before = {1}, .after = {2}, .dilation = {2}})),
      data.sequences[0], data.sequences[1]);
}

// 4 positions in 3 windows [0, 2), [1, 3), [2, 4), that overlap.
TEST(PoolingLimit, AverageOverEvenWindows) {
  const Data data;
  test::expect_sharp_limit(pooled(AdaptiveAveragePool({3})), data.sequences[0], data.sequences[1]);
  test::expect_sharp_limit(pooled(AdaptiveAveragePool({2, 1})), data.images[0], data.images[1]);
}

}  // namespace
}  // namespace ladon::pooling_test
