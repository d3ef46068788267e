// Softmax attention as an average over draws of the logits. For one draw of a pair (n, m) of inputs
// let P = ζ(G(n)) and P' = ζ(G(m)). The moments are those of one head (head_moments.cpp): P·v·P'ᵀ,
// P·u·P'ᵀ, and with J(X), the sum over softmax's Jacobians, J(k) and J(t). The tangent kernel, like
// the NNGP kernel, is an inner product of features of single inputs (features.h), and so a mean
// over draws of positive semidefinite matrices.

#include "ladon/layers/infinite/attention/draws.h"

#include <algorithm>
#include <optional>

#include "ladon/autograd/number.h"
#include "ladon/layers/infinite/attention/pair_sums.h"

namespace ladon::infinite {

void average_over_draws(const AttentionLimit& layer, const Pairs& seen, const Pairs& values,
                        double* value, double* tangent) {
  const BlockList blocks(layer, seen, values);
  constexpr std::int64_t at_once = 8;  // draws whose weights are kept for all inputs
  const std::int64_t t = blocks.positions(), draws = (layer.samples + 1) / 2;
  const double qk = number_of("MultiHeadAttention", layer.query_key);
  const LogitDraws left(seen.left_root, seen.left, blocks.left_may(), qk);
  const LogitDraws right(seen.right_root, seen.right, blocks.right_may(), qk);
  const std::int64_t r = left.rank();
  const bool same = same_elements(seen.nngp, values.nngp), may_be_features = same && r < 2 * t;
  // Covariances are used only if they cost less than J(k) without them: 3·T³ + 3·T²·R
  // multiplications.
  const bool covariances = tangent && covariance_size(r) <= 3 * (t + r);
  PairSums sums(layer, blocks, r, same, value, tangent);
  SharedDraws shared(layer.rng, r);
  for (std::int64_t begin = 0; begin < draws; begin += at_once) {
    const std::int64_t end = std::min(draws, begin + at_once), count = 2 * (end - begin);
    const DrawnWeights p = left.weights(shared, begin, end, DrawnWeights::left);
    const DrawnWeights q = right.weights(shared, begin, end, DrawnWeights::right);
    std::optional<DrawFeatures> one, other;
    if (may_be_features) {
      one.emplace(left, p, t, count, covariances);
      other.emplace(right, q, t, count, covariances);
    }
    sums.add(count, [&](std::int64_t pair) {
      const std::int64_t n = blocks.left_input(pair), m = blocks.right_input(pair);
      DrawnPair drawn{p.of(n).rows, q.of(m), left.common(n), right.common_turned(m)};
      // Decided per pair, so that a pair's bits do not depend on the rest of the block.
      if (!may_be_features || !left.explained(n) || !right.explained(m)) return drawn;
      drawn.left_means = one->means(n), drawn.right_means = other->means(m);
      if (!covariances) return drawn;
      drawn.left_covariances = one->covariances(n);
      drawn.right_covariances = other->covariances(m);
      return drawn;
    });
  }
  sums.finish(2 * static_cast<double>(draws));
}

}  // namespace ladon::infinite
