#pragma once
// The networks whose Gram matrices are timed. A limit depends only on the shape and the prior of
// its network, not on the weights.

#include "ladon/core/random.h"
#include "ladon/layers/layers.h"

namespace ladon::bench {

inline Linear ntk_linear(std::int64_t in, Generator& rng) {
  return Linear({.in = in,
                 .out = 1,
                 .parameterization = Parameterization::ntk,
                 .weight_std = 1.4,
                 .bias_std = 0.1},
                rng);
}

/// A network of three hidden ReLU layers.
inline Sequential relu_net(std::int64_t in) {
  Generator rng(1);
  Sequential net(ntk_linear(in, rng));
  for (int i = 0; i < 3; ++i) {
    net.append(Activation(Nonlinearity::relu));
    net.append(ntk_linear(1, rng));
  }
  return net;
}

/// Attention with tied queries and keys, under linear scaling.
inline MultiHeadAttention attention_layer(std::int64_t dim, Weighting zeta) {
  Generator rng(1);
  return MultiHeadAttention(
      {.dim = dim,
       .heads = 1,
       .form = {.scaling = AttentionScaling::linear, .weighting = zeta, .tied = true},
       .prior = {.parameterization = Parameterization::ntk}},
      rng);
}

}  // namespace ladon::bench
