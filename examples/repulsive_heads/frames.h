#pragma once
// A training, epoch by epoch.

#include <string>
#include <utility>
#include <vector>

#include "ladon/examples/repulsive_heads/train.h"

namespace ladon::example {

/// Test sequences whose maps are kept: the first.
constexpr std::int64_t sequences_shown = 4;

/// A classifier after some epochs.
struct Frame {
  HeadMaps maps;
  Tensor looks;    ///< [sequences_shown, heads, T]: the last layer's attention of the first token.
  Tensor weights;  ///< [heads, numbers]: W_q, W_k, W_v of all layers.
  double accuracy, distance;
};

/// Trains as train() does, with the same result; frames from before the training to after the last
/// epoch.
std::vector<Frame> frames_of(const Settings& settings, const Task& task, const std::string& method,
                             std::uint64_t seed);

/// Places of rows [n, D] on the first two of their principal axes: [n, 2], and the share of their
/// variance that these hold. With X of mean 0, X·Xᵀ = U·Λ·Uᵀ [n, n] has them as √Λ·U.
std::pair<Tensor, double> principal_places(const Tensor& rows);

}  // namespace ladon::example
