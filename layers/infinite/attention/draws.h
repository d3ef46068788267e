#pragma once
// Averages of softmax attention over draws of its Gaussian logits.

#include "ladon/layers/infinite/attention/pair_blocks.h"

namespace ladon::infinite {

/// AttentionMoments of every pair, [count, T, T] each (`tangent` may be null), as means over
/// layer.samples draws of the logits, from the roots in `seen`.
void average_over_draws(const AttentionLimit& layer, const Pairs& seen, const Pairs& values,
                        double* value, double* tangent);

/// Differentiable average_over_draws() with the same draws, also for cross-attention; slower.
AttentionMoments composed_average(const AttentionLimit& layer, const Seen& seen,
                                  const Pairs& values);

}  // namespace ladon::infinite
