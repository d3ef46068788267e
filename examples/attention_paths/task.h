#pragma once
// Hidden Markov chains, and fixed attention that may tell them apart (Tiberi et al. 2024).

#include <cstdint>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::example {

struct TaskOptions {
  std::int64_t train = 100, test = 400;
  std::int64_t features = 200;  ///< N₀
  std::int64_t states = 30;     ///< T, in each chain
};

/// σ² of targets.
constexpr double noise = 0.01;
constexpr std::int64_t paths = 4, good = 0, denoising = 2;

/// Four paths through two layers of two heads: (same, uniform), (same, random), (random, uniform),
/// (random, random).
struct Task {
  Tensor inputs;  ///< ξ_π: what the last token gets by each path, f64 [paths, train + test, d].
  Tensor labels;  ///< +1: states that tend to stay, −1: that tend to change [train + test].
  std::int64_t train = 0;

  /// C_ππ′(n, m) = ⟨ξ_π(n), ξ_π′(m)⟩/d [paths, paths, N, N].
  Tensor kernels() const;
  Tensor targets() const;
};

/// A chain s_t = ±1 stays with probability 0.7 or 0.3. Token t ≥ 1 holds features
/// v_± + N(0, 1), v_± = √2 on the first or the second half of them, and a one-hot position; token 0
/// holds its position alone. Maps are softmax over keys of β·x_keyᵀ·w·x_query:
///   same     w = q·qᵀ on features, q = (v_+ − v_−)/N₀, so that alike states give +1, others −1;
///            on positions 1 for the token before and 1.5 for token 0: the token before if it is
///            alike, else token 0, which holds no features.
///   uniform  w = 0.
///   random   entries N(0, 1/N₀²) on features, N(0, 1) on positions, N(0, 1/N₀) between.
/// Advances rng by four blocks.
Task draw_task(const TaskOptions& options, Generator& rng);

}  // namespace ladon::example
