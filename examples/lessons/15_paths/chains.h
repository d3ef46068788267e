#pragma once
// The task of lesson 15: chains of a hidden state, read by two layers of two heads with fixed maps.

#include <cstdint>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::example {

struct Chains {
  Tensor classes;  ///< [all, 1]: +1 where the state tends to stay, −1 where to change.
  /// C [4, 4, all, n] between all chains and the n first, which are trained on. The paths are
  /// (same, uniform), (same, random), (random, uniform) and (random, random).
  Tensor overlaps;
};

/// n chains to train on and 400 to test; their maps are drawn with them.
Chains chains(std::int64_t n, Generator& rng);

}  // namespace ladon::example
