#pragma once
// Averages of softmax attention over draws of its Gaussian logits.

#include <cstdint>

#include "ladon/layers/infinite/attention/pair_blocks.h"

namespace ladon::infinite {

/// AttentionMoments of every pair, [count, T, T] each (`tangent` may be null), as means over
/// layer.samples draws of the logits. The draws of a replicate are the same for all pairs.
void average_over_draws(const AttentionLimit& layer, const BlockList& blocks,
                        std::uint64_t replicate, double* value, double* tangent);

}  // namespace ladon::infinite
