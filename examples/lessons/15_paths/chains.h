#pragma once
// The task of lesson 15: Markov chains with a hidden state, read by two layers of two fixed heads.

#include <cstdint>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::example {

struct Chains {
  Tensor classes;  ///< [all, 1]: +1 where the state tends to stay, −1 to change.
  /// C [4, 4, all, n] between all chains and the first n, which are for training. The paths are
  /// (same, uniform), (same, random), (random, uniform) and (random, random).
  Tensor overlaps;
};

/// n chains for training and 400 for testing; the random maps are drawn with them.
Chains chains(std::int64_t n, Generator& rng);

}  // namespace ladon::example
