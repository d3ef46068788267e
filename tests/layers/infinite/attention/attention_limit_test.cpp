// Infinite-width limits of attention, compared with finite networks of many heads.

#include "ladon/layers/infinite/attention/limit.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/tests/layers/infinite/attention/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon::attention_limit_test {
namespace {

using infinite::Inputs;
using test::attention;
using test::behind_linear;
using test::blocks;
using test::Blocks;
using test::fewer;
using test::linear_tied;
using test::ntk;
using test::once;
using test::padded;
using test::sqrt_untied;

/// Tokens near ±(1, 1, 1, 1): no logit is near 0, where relu and abs bend.
Blocks signed_tokens() {
  Blocks x = blocks();
  const Tensor sign = tensor({1, -1, 1}, {3, 1}, f64);
  x.a.x = sign + 0.3 * x.a.x;
  x.b.x = sign + 0.3 * x.b.x;
  return x;
}

void expect(const MultiHeadAttentionOptions& options, const Blocks& x) {
  test::expect_limit(attention(options), x.a, x.b, once);
}

// --- linear scaling ---

std::string zeta_name(const testing::TestParamInfo<Weighting>& zeta) {
  static constexpr const char* names[] = {"Softmax", "Identity", "Relu", "Abs"};
  return names[static_cast<int>(zeta.param)];
}

class LinearScaling : public testing::TestWithParam<Weighting> {};
INSTANTIATE_TEST_SUITE_P(AllZeta, LinearScaling,
                         testing::Values(Weighting::softmax, Weighting::identity, Weighting::relu,
                                         Weighting::abs),
                         zeta_name);

TEST_P(LinearScaling, OneWideHeadSuffices) { expect(linear_tied(GetParam()), blocks()); }
TEST_P(LinearScaling, Causal) {
  auto options = linear_tied(GetParam());
  options.causal = true;
  expect(options, blocks());
}
TEST_P(LinearScaling, InAWindow) {
  auto options = linear_tied(GetParam());
  options.causal = true;
  options.window = 2;
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

class SqrtScaling : public testing::TestWithParam<Weighting> {};
INSTANTIATE_TEST_SUITE_P(AllZeta, SqrtScaling,
                         testing::Values(Weighting::softmax, Weighting::identity, Weighting::relu,
                                         Weighting::abs),
                         zeta_name);

TEST_P(SqrtScaling, ManyHeads) { expect(sqrt_untied(GetParam()), blocks()); }
// Also the tangent kernel, in which the gradients of one key come from two heads.
TEST_P(SqrtScaling, HeadsThatShareKeys) {
  auto options = sqrt_untied(GetParam());
  options.kv_heads = options.heads / 2;
  expect(options, blocks());
}
TEST_P(SqrtScaling, Causal) {
  auto options = sqrt_untied(GetParam());
  options.causal = true;
  expect(options, blocks());
}
TEST_P(SqrtScaling, InAWindow) {
  auto options = sqrt_untied(GetParam());
  options.causal = true;
  options.window = 2;
  if (GetParam() == Weighting::softmax) return expect(options, blocks());
  Generator rng(1);
  const MultiHeadAttention layer(options, rng);
  test::expect_error([&] { infinite::limit(layer)(blocks().a); },
                     "no limit is known for attention in a window");
}
TEST_P(SqrtScaling, PaddedKeys) { expect(sqrt_untied(GetParam()), padded()); }

TEST_P(SqrtScaling, BehindALinearLayer) {
  auto options = sqrt_untied(GetParam());
  options.heads = 16;
  options.head_dim = 32;
  const Blocks x = blocks();
  test::expect_limit(behind_linear(options, 128), x.a, x.b, fewer);
}

// --- in a network ---

// The residual attention of Hron et al. 2020, between layers of other kinds.
TEST(ResidualAttention, InADeepNetworkOnPaddedSequences) {
  const auto make = [](Generator& rng) {
    constexpr std::int64_t width = 256;
    auto net = std::make_unique<Sequential>();
    net->append(Linear({.in = 4, .out = width, .parameterization = ntk}, rng));
    MultiHeadAttention attention(
        {.dim = width,
         .heads = 1,
         .form = {.scaling = AttentionScaling::linear, .tied = true},
         .positions = AttentionPositions{.encoding = {.grid = {3},
                                                      .correlation = decaying_correlation(0.5)}},
         .prior = {.parameterization = ntk, .query_key_std = 1.5, .value_output_std = 1.4}},
        rng);
    net->append(Residual(0.4, std::move(attention)));
    net->append(Activation(Nonlinearity::relu));
    net->append(Linear({.in = width, .out = 64, .parameterization = ntk, .bias_std = 0.2}, rng));
    return net;
  };
  const Blocks x = padded();
  test::expect_limit(make, x.a, x.b, fewer);
}

// --- standard parameterization ---

// Gradients by weights of variance 1/width are large: the NTK is of order width, and what is left
// out of its limit of order 1. Compared are networks with the widths that the limit was made for.
TEST(StandardParameterization, IsScaledByEachGroupsFanIn) {
  for (const Weighting zeta : {Weighting::identity, Weighting::relu}) {
    MultiHeadAttentionOptions options{.dim = 4,
                                      .heads = 64,
                                      .head_dim = 48,
                                      .value_head_dim = 4,
                                      .out = 64,
                                      .form = {.weighting = zeta},
                                      .projection_bias = false,
                                      .prior = {.init = Init::kaiming_normal}};
    expect(options, blocks());
  }
}
// By Xavier's rule queries have a quarter of the variance of keys that four heads share, so that a
// weight or bias of the one trains at another rate than one of the other.
TEST(StandardParameterization, OfQueriesAndKeysOfUnequalVariances) {
  expect({.dim = 4,
          .heads = 64,
          .head_dim = 48,
          .kv_heads = 16,
          .value_head_dim = 4,
          .out = 64,
          .form = {.weighting = Weighting::identity},
          .prior = {.init = Init::xavier_normal}},
         blocks());
}
TEST(StandardParameterization, LinearScaling) {
  expect({.dim = 4,
          .heads = 1,
          .head_dim = 4096,
          .value_head_dim = 128,
          .out = 64,
          .form = {.scaling = AttentionScaling::linear, .tied = true},
          .projection_bias = false},
         blocks());
}

}  // namespace
}  // namespace ladon::attention_limit_test
