#pragma once
// The copy task: every position is to output the previous token, by one attention head whose
// queries and keys depend only on positions.

#include <cstdint>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/layers/attention/attention_form.h"
#include "ladon/optim/posterior/regression.h"
#include "ladon/optim/samplers/elliptical_slice.h"

namespace ladon::example {

constexpr std::int64_t length = 6;                ///< T, number of tokens in a sequence.
constexpr std::int64_t symbols = length;          ///< V; each symbol occurs once in a sequence.
constexpr double noise = 8;                       ///< σ² of each of V outputs at each position.
constexpr std::int64_t logits = length * length;  ///< Number of logits, the entries of B [T, T].

/// Sequences and their targets [N, T, V]. A sequence contains every symbol once, in random order,
/// as centred one-hot vectors of norm √V. The target at a position is the vector of the previous
/// position, or of the last position for the first one, plus noise.
struct CopyData {
  Tensor x, y;
  CopyData first(std::int64_t n) const;
};
CopyData copy_data(std::int64_t count, Generator& rng);

/// Attention maps ζ(s·B) [P, T, T] of logits B, the first T² elements of each row of z [P, ≥ T²].
/// For softmax s = 2; for identity s = 1/√T, so that the squared norm of a row of the map has mean
/// 1.
Tensor attention_maps(Weighting weighting, const Tensor& z);
/// |cosine| [P] between each map and that of a perfect copy head, in which every position attends
/// only to the previous one. The mean of each row is subtracted before, since tokens are centred.
Tensor alignment(const Tensor& maps);
/// Weight that each map gives to the correct token, mean over positions [P].
Tensor weight_on_right(const Tensor& maps);

/// Log likelihood ln p(y | B) − ln p(y | f = 0) for each row z of logits B. Given the map A the
/// outputs A·X·M·w/√V, with w = 0.3, are linear in M [V, V], whose entries are N(0, 1), so M is
/// integrated out. With features F = A·X, [N·T, V], c = w/(σ√V) and the Cholesky factor L of 1 +
/// c²FᵀF, each of the V outputs contributes −½·ln det(1 + c²FᵀF) + ½·|L⁻¹·c·Fᵀy/σ|². FᵀF and Fᵀy
/// are computed from moments of the data per pair of positions, so the cost does not depend on N.
LogLikelihood copy_likelihood(const CopyData& data, Weighting weighting);

/// Regression task over all weights of the network, a row (B, M) of T² + V² elements. Its only test
/// function is the alignment of the map.
RegressionTask copy_network(const CopyData& data, Weighting weighting);

}  // namespace ladon::example
