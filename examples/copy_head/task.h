#pragma once
// The copy task: every position is to give the token before it. One attention head whose queries
// and keys see positions only.

#include <cstdint>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/layers/attention/attention_form.h"
#include "ladon/optim/posterior/regression.h"
#include "ladon/optim/samplers/elliptical_slice.h"

namespace ladon::example {

constexpr std::int64_t length = 6;                ///< T: tokens of a sequence.
constexpr std::int64_t symbols = length;          ///< V: each stands once in a sequence.
constexpr double noise = 8;                       ///< σ² of each of V outputs at each position.
constexpr std::int64_t logits = length * length;  ///< Numbers of B.

/// Sequences and their targets [N, T, V]: orders of the symbols, each a centred one-hot vector of
/// length √V, and what was one position before (the first has the last), with noise.
struct CopyData {
  Tensor x, y;
  CopyData first(std::int64_t n) const;
};
CopyData copy_data(std::int64_t count, Generator& rng);

/// Attention of rows z of B, [P, ≥ T²] → [P, T, T]: ζ(s·B), s = 2 of softmax; identity has
/// s = 1/√T, so that a row of A has mean square length 1.
Tensor attention_maps(Weighting weighting, const Tensor& z);
/// |cosine| of each map with the one that copies [P], rows without their means: tokens are centred.
Tensor alignment(const Tensor& maps);
/// Weight that each map gives to the right token, mean over positions [P].
Tensor weight_on_right(const Tensor& maps);

/// ln p(y | B) − ln p(y | f = 0) of rows z. Given the map A the outputs A·X·M·w/√V are linear in M,
/// whose entries are N(0, 1), so M is integrated out: with features F = A·X, [N·T, V], and
/// c = w/(σ√V), each of the V outputs has −½·ln det(1 + c²FᵀF) + ½·|L⁻¹·c·Fᵀy/σ|², LLᵀ the
/// matrix. FᵀF and Fᵀy are sums over pairs of positions of data's own moments, so that the cost
/// does not depend on N.
LogLikelihood copy_likelihood(const CopyData& data, Weighting weighting);

/// The network with all its weights, a row (B, M) of T² + V² numbers. Its one test function is the
/// alignment of its map.
RegressionTask copy_network(const CopyData& data, Weighting weighting);

}  // namespace ladon::example
