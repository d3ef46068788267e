#pragma once
// Regression on sequences of tokens with one channel. A head is then determined by one random
// number, so posteriors of one or two heads are integrals over one or two numbers; an independent
// program computed them to 1e-8. The network is softmax attention with query_key_std 1.5 and
// value_output_std 1.2, followed by the mean over positions; the first four inputs are for
// training.

#include "ladon/layers/attention/attention.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/pooling.h"

namespace ladon::test::one_channel {

inline constexpr double noise = 0.05;

inline Tensor inputs() {
  return tensor({1.0, -0.5, 2.0, 0.3, 1.7, -1.2, -1.4, 0.6, 0.9, 2.2, 0.1, -0.8, 0.8, 1.1, -2.0,
                 -0.2, 1.3, 0.5},
                {6, 3, 1}, f64);
}

inline Tensor targets() { return tensor({0.9, 0.1, -0.7, 1.3}, f64); }

inline Sequential network() {
  Generator rng(1);
  return Sequential(MultiHeadAttention({.dim = 1,
                                        .heads = 1,
                                        .bias = false,
                                        .prior = {.parameterization = Parameterization::ntk,
                                                  .query_key_std = 1.5,
                                                  .value_output_std = 1.2}},
                                       rng),
                    MeanPositions());
}

/// Kernel of infinitely many heads at all six inputs.
inline const Tensor& limit_kernel() {
  static const Tensor k =
      tensor({1.133889589537,  0.408882760191, -0.046268390517, 0.789654432619, -0.186628588067,
              0.718856520298,  0.408882760191, 0.154425303123,  0.002690075327, 0.273455156683,
              -0.031052706973, 0.25603040652,  -0.046268390517, 0.002690075327, 0.094467894319,
              -0.0945420002,   0.183631617198, -0.055752073301, 0.789654432619, 0.273455156683,
              -0.0945420002,   0.595672096806, -0.255617031051, 0.521761147144, -0.186628588067,
              -0.031052706973, 0.183631617198, -0.255617031051, 0.388311850912, -0.180667206803,
              0.718856520298,  0.25603040652,  -0.055752073301, 0.521761147144, -0.180667206803,
              0.47452211362},
             {6, 6}, f64);
  return k;
}

}  // namespace ladon::test::one_channel
