// Limits of the layers against finite networks.

#include "ladon/tests/layers/infinite/monte_carlo.h"

namespace ladon {
namespace {

using infinite::limit;

std::unique_ptr<Layer> linear_net(Generator& rng) {
  constexpr auto ntk = Parameterization::ntk;
  auto net = std::make_unique<Sequential>();
  net->append(Linear(
      {.in = 3, .out = 256, .parameterization = ntk, .weight_std = 1.3, .bias_std = 0.4}, rng));
  net->append(Linear(
      {.in = 256, .out = 8, .parameterization = ntk, .weight_std = 0.9, .bias_std = 0.2}, rng));
  return net;
}

TEST(Limit, OfTwoLinearLayers) {
  Generator rng(3);
  const Tensor x = normal({3, 3}, rng, 0, 1, f64), y = normal({2, 3}, rng, 0, 1, f64);
  test::expect_limit(linear_net, x, y);
}

TEST(Limit, OfSequencesWithoutTokensIsEmpty) {
  Generator rng(1);
  const MultiHeadAttention attention({.dim = 5, .heads = 1, .projection_bias = false}, rng);
  for (const std::int64_t inputs : {1, 3, 40}) {
    const Tensor x = zeros({inputs, 0, 5}, f64);
    EXPECT_EQ(infinite::input_kernel({x}, infinite::Get::ntk).cov1.shape(), (Shape{inputs, 0, 0}));
    EXPECT_EQ(limit(attention)(x).nngp.shape(), (Shape{inputs, inputs, 0, 0}));
  }
}

}  // namespace
}  // namespace ladon
