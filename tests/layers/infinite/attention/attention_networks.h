#pragma once
// Networks with attention: tests compare their kernels with the infinite-width limits.

#include "ladon/tests/layers/infinite/monte_carlo.h"

namespace ladon::test {

constexpr auto ntk = Parameterization::ntk;

/// Attention in ntk parameterization on inputs of width 4.
inline MultiHeadAttentionOptions wide(AttentionScaling scaling, Weighting zeta, std::int64_t heads,
                                      std::int64_t head_dim) {
  return {
      .dim = 4,
      .heads = heads,
      .head_dim = head_dim,
      .value_head_dim = scaling == AttentionScaling::linear ? 128 : 4,
      .out = 64,
      .form = {.scaling = scaling, .weighting = zeta, .tied = scaling == AttentionScaling::linear},
      .prior = {.parameterization = ntk,
                .query_key_std = 1.2,
                .value_output_std = 0.9,
                .bias_std = 0.3},
      .limit_draws = {.samples = 60000}};
}

inline infinite::NetworkFactory attention(const MultiHeadAttentionOptions& options) {
  return [options](Generator& rng) { return std::make_unique<MultiHeadAttention>(options, rng); };
}

/// The same attention after a linear layer, so that the tangent kernel of attention's input is not
/// 0.
inline infinite::NetworkFactory behind_linear(MultiHeadAttentionOptions options,
                                              std::int64_t width) {
  options.dim = width;
  return [options, width](Generator& rng) {
    auto net = std::make_unique<Sequential>();
    net->append(Linear(
        {.in = 4, .out = width, .parameterization = ntk, .weight_std = 1.1, .bias_std = 0.2}, rng));
    net->append(MultiHeadAttention(options, rng));
    return net;
  };
}

/// Two sets of input sequences, of 3 tokens each unless another number is given.
struct Blocks {
  infinite::Inputs a, b;
};
inline Blocks blocks(std::int64_t positions = 3) {
  Generator rng(3);
  return {normal({2, positions, 4}, rng, 0, 1, f64), normal({1, positions, 4}, rng, 0, 1, f64)};
}
inline MultiHeadAttentionOptions linear_tied(Weighting zeta) {
  return wide(AttentionScaling::linear, zeta, 1, 4096);
}
inline MultiHeadAttentionOptions sqrt_untied(Weighting zeta) {
  return wide(AttentionScaling::sqrt, zeta, 64, 48);
}

/// blocks() with masks, so that the sequences have different lengths.
inline Blocks padded() {
  Blocks x = blocks();
  x.a.mask = cast(tensor({1, 1, 0, 1, 1, 1}, {2, 3}), boolean);
  x.b.mask = cast(tensor({0, 1, 1}, {1, 3}), boolean);
  return x;
}

inline const LimitCheck once{.seed = 1, .options = {.draws = 300, .kernel = {.channels = 1}}};
inline const LimitCheck fewer{.seed = 1, .options = {.draws = 200, .kernel = {.channels = 1}}};

}  // namespace ladon::test
