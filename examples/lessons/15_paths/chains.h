#pragma once
// The task of lesson 15: Markov chains with a hidden state, read by two layers of two fixed heads.

#include <cstdint>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::example {

struct Chains {
  Tensor classes;  ///< Class of each chain, [all, 1]: +1 if its state tends to stay, else −1.
  /// Kernels C [4, 4, all, n] of pairs of paths, between all chains and the first n, which are for
  /// training. A path names its head in the first and in the second layer; the paths are (same,
  /// uniform), (same, random), (random, uniform) and (random, random). `same` attends to the
  /// previous token if both have the same state, else to the first token, `uniform` to all tokens
  /// equally, and `random` by a random map.
  Tensor overlaps;
};

/// Draws n chains for training and 400 for testing, and the attention maps of the random heads.
Chains chains(std::int64_t n, Generator& rng);

}  // namespace ladon::example
