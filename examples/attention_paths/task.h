#pragma once
// Two kinds of hidden Markov chains, and fixed attention maps that can distinguish them (Tiberi et
// al. 2024).

#include <cstdint>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::example {

struct TaskOptions {
  std::int64_t train = 100, test = 400;
  std::int64_t features = 200;  ///< N₀, features of a token.
  std::int64_t states = 30;     ///< T, length of a chain of states.
};

/// Variance σ² of the targets' noise.
constexpr double noise = 0.01;
constexpr std::int64_t paths = 4, good = 0, denoising = 2;

/// Chains with their labels, and the inputs through four paths (head of layer 1, head of layer 2).
/// The attention maps of the heads, which draw_task() describes, are in this order:
/// (same, uniform), (same, random), (random, uniform), (random, random).
struct Task {
  Tensor inputs;  ///< ξ_π: input of the last token through each path, f64 [paths, train + test, d].
  Tensor labels;  ///< +1 where states tend to stay, −1 where they tend to change [train + test].
  std::int64_t train = 0;

  /// Kernels of pairs of paths π, π′ and of chains i, j: C_ππ′(i, j) = ⟨ξ_π(i), ξ_π′(j)⟩/d, of
  /// shape [paths, paths, train + test, train + test].
  Tensor kernels() const;
  Tensor targets() const;
};

/// Draws a task. A chain of states s_t = ±1 keeps its state with probability 0.7 or 0.3. Token t ≥
/// 1 holds a one-hot position and N₀ features v_± + N(0, 1), where v_+ is √2 on the first half of
/// the features and v_− on the second half, else 0; token 0 holds only its position. Attention maps
/// are softmax over keys of β·x_keyᵀ·w·x_query:
///   same     on features w = q·qᵀ with q = (v_+ − v_−)/N₀, which gives +1 for equal states and −1
///            for different ones; on positions, 1 for the previous token and 1.5 for token 0. So a
///            query attends to the previous token if its state is equal, else to token 0, which has
///            no features.
///   uniform  w = 0.
///   random   entries N(0, 1/N₀²) on features, N(0, 1) on positions, N(0, 1/N₀) between them.
/// Advances rng by four blocks (Generator::reserve).
Task draw_task(const TaskOptions& options, Generator& rng);

}  // namespace ladon::example
