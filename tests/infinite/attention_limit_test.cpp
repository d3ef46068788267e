// Attention's limits against finite networks of many heads.

#include "ladon/layers/infinite/attention_limit.h"

#include "ladon/tests/infinite/monte_carlo.h"
#include "ladon/tests/support.h"

namespace ladon {
namespace {

using infinite::Inputs;
using infinite::Kernel;
using infinite::limit;

constexpr auto ntk = Parameterization::ntk;

/// Attention in ntk parameterization on inputs of width 4.
MultiHeadAttentionOptions wide(AttentionScaling scaling, Zeta zeta, std::int64_t heads,
                               std::int64_t head_dim) {
  return {.dim = 4,
          .heads = heads,
          .head_dim = head_dim,
          .value_head_dim = scaling == AttentionScaling::linear ? 128 : 4,
          .out = 64,
          .scaling = scaling,
          .zeta = zeta,
          .tied = scaling == AttentionScaling::linear,
          .parameterization = ntk,
          .query_key_std = 1.2,
          .value_output_std = 0.9,
          .bias_std = 0.3,
          .limit_samples = 60000};
}

MultiHeadAttentionOptions linear_tied(Zeta zeta) {
  return wide(AttentionScaling::linear, zeta, 1, 4096);
}
MultiHeadAttentionOptions sqrt_untied(Zeta zeta) {
  return wide(AttentionScaling::sqrt, zeta, 64, 48);
}

infinite::NetworkFactory attention(const MultiHeadAttentionOptions& options) {
  return [options](Generator& rng) { return std::make_unique<MultiHeadAttention>(options, rng); };
}

/// The same behind a linear layer, which gives the tangent kernels of its input something to hold.
infinite::NetworkFactory behind_linear(MultiHeadAttentionOptions options, std::int64_t width) {
  options.dim = width;
  return [options, width](Generator& rng) {
    auto net = std::make_unique<Sequential>();
    net->append(Linear(
        {.in = 4, .out = width, .parameterization = ntk, .weight_std = 1.1, .bias_std = 0.2}, rng));
    net->append(MultiHeadAttention(options, rng));
    return net;
  };
}

/// Two blocks of sequences of 3 tokens.
struct Blocks {
  Inputs a, b;
};
Blocks blocks(std::int64_t positions = 3) {
  Generator rng(3);
  return {normal({2, positions, 4}, rng, 0, 1, f64), normal({1, positions, 4}, rng, 0, 1, f64)};
}
/// Tokens near ±(1, 1, 1, 1): no logit is near 0, where relu and abs bend.
Blocks signed_tokens() {
  Blocks x = blocks();
  const Tensor sign = tensor({1, -1, 1}, {3, 1}, f64);
  x.a.x = sign + 0.3 * x.a.x;
  x.b.x = sign + 0.3 * x.b.x;
  return x;
}
Blocks padded() {
  Blocks x = blocks();
  x.a.mask = cast(tensor({1, 1, 0, 1, 1, 1}, {2, 3}), boolean);
  x.b.mask = cast(tensor({0, 1, 1}, {1, 3}), boolean);
  return x;
}

const test::LimitCheck once{.seed = 1, .options = {.draws = 300, .kernel = {.channels = 1}}};
const test::LimitCheck fewer{.seed = 1, .options = {.draws = 200, .kernel = {.channels = 1}}};

void expect(const MultiHeadAttentionOptions& options, const Blocks& x) {
  test::expect_limit(attention(options), x.a, x.b, once);
}

// --- linear scaling ---

std::string zeta_name(const testing::TestParamInfo<Zeta>& zeta) {
  static constexpr const char* names[] = {"Softmax", "Identity", "Relu", "Abs"};
  return names[static_cast<int>(zeta.param)];
}

class LinearScaling : public testing::TestWithParam<Zeta> {};
INSTANTIATE_TEST_SUITE_P(AllZeta, LinearScaling,
                         testing::Values(Zeta::softmax, Zeta::identity, Zeta::relu, Zeta::abs),
                         zeta_name);

TEST_P(LinearScaling, OneWideHeadSuffices) { expect(linear_tied(GetParam()), blocks()); }
TEST_P(LinearScaling, Causal) {
  auto options = linear_tied(GetParam());
  options.causal = true;
  expect(options, blocks());
}
TEST_P(LinearScaling, PaddedKeys) { expect(linear_tied(GetParam()), padded()); }
TEST_P(LinearScaling, BehindALinearLayer) {
  auto options = linear_tied(GetParam());
  options.head_dim = 512;
  options.value_head_dim = 16;
  const Blocks x = signed_tokens();
  test::expect_limit(behind_linear(options, 512), x.a, x.b, fewer);
}

// --- sqrt scaling ---

class SqrtScaling : public testing::TestWithParam<Zeta> {};
INSTANTIATE_TEST_SUITE_P(AllZeta, SqrtScaling,
                         testing::Values(Zeta::softmax, Zeta::identity, Zeta::relu, Zeta::abs),
                         zeta_name);

TEST_P(SqrtScaling, ManyHeads) { expect(sqrt_untied(GetParam()), blocks()); }
TEST_P(SqrtScaling, Causal) {
  auto options = sqrt_untied(GetParam());
  options.causal = true;
  expect(options, blocks());
}
TEST_P(SqrtScaling, PaddedKeys) { expect(sqrt_untied(GetParam()), padded()); }

TEST_P(SqrtScaling, BehindALinearLayer) {
  auto options = sqrt_untied(GetParam());
  options.heads = options.head_dim = 32;
  const Blocks x = blocks();
  test::expect_limit(behind_linear(options, 128), x.a, x.b, fewer);
}

}  // namespace
}  // namespace ladon
