#pragma once
// Averages of softmax attention over draws of its Gaussian logits.

#include "ladon/layers/infinite/attention/pair_blocks.h"

namespace ladon::infinite {

/// Writes the AttentionMoments of every pair, [count, T, T] each (`tangent` may be null): means
/// over layer.samples draws of the logits, made from the tokens' coordinates in `seen`.
void average_over_draws(const AttentionLimit& layer, const Pairs& seen, const Pairs& values,
                        double* value, double* tangent);

/// Differentiable, slower form of average_over_draws(), with the same draws. It also supports
/// cross-attention.
AttentionMoments composed_average(const AttentionLimit& layer, const Seen& seen,
                                  const Pairs& values);

}  // namespace ladon::infinite
