// Softmax attention as an average over draws of the logits, in the notation of limit.h. For one
// draw of a pair (n, m) of inputs, let P and P' be the attention weights ζ(G(n)) and ζ(G(m)). The
// moments are those of one head (head_moments.cpp): P·v·P'ᵀ and P·u·P'ᵀ, and J(k) and J(t), where
//   J(X)_ab = Σ_ij v_ij·Σ_ce ∂P_ai/∂G_ac·∂P'_bj/∂G_be·X_ce
// is a sum over softmax's Jacobians. The tangent kernel, like the NNGP kernel, is an inner product
// of features of single inputs (features.h), and so a mean over draws of positive semidefinite
// matrices.

#include "ladon/layers/infinite/attention/draws.h"

#include <algorithm>
#include <optional>

#include "ladon/autograd/number.h"
#include "ladon/layers/infinite/attention/kept_draws.h"
#include "ladon/layers/infinite/attention/pair_sums.h"
#include "ladon/layers/infinite/kernel/pass_scope.h"

namespace ladon::infinite {
namespace {

constexpr std::int64_t at_once = 8;  // number of draws whose weights are held for all inputs

/// Loop over the draws of a pass, `at_once` at a time. If only the cost is to be measured
/// (pass_scope.h), it stops after the second group of draws, and counts the time of that group for
/// each group left out: the time of the first group also contains work that is done once.
class DrawLoop {
 public:
  explicit DrawLoop(std::int64_t draws) : draws_(draws), sample_(PassScope::options().sample) {}

  std::int64_t done() const { return done_; }
  /// Calls add(make(begin, end), 2·(end − begin)) for each range of draws, which count twice (G and
  /// −G). make() computes the attention weights and features of single inputs; add() adds up their
  /// products for all pairs.
  template <class Make, class Add>
  void run(const Make& make, const Add& add) {
    while (done_ < draws_) {
      const std::int64_t begin = done_, end = std::min(draws_, done_ + at_once);
      const double start = now();
      const auto of_inputs = make(begin, end);
      const double made = now();
      add(of_inputs, 2 * (end - begin));
      done_ = end;
      if (!sample_ || (done_ < 2 * at_once && done_ < draws_)) continue;
      const double chunks = static_cast<double>(draws_) / static_cast<double>(end - begin);
      sample_->of_inputs += (made - start) * chunks;
      sample_->left_out +=
          (now() - start) * static_cast<double>(draws_ - done_) / static_cast<double>(end - begin);
      return;
    }
  }

 private:
  double now() const { return sample_ ? processor_seconds() : 0; }

  std::int64_t draws_, done_ = 0;
  PassSample* sample_;
};

/// Attention weights of the inputs of both sides at some draws, and their features if these are
/// used.
struct InputDraws {
  DrawnWeights left, right;
  std::optional<DrawFeatures> of_left, of_right;
};

}  // namespace

void average_over_draws(const AttentionLimit& layer, const Pairs& seen, const Pairs& values,
                        double* value, double* tangent) {
  const BlockList blocks(layer, seen, values);
  const std::int64_t t = blocks.positions(), draws = (layer.samples + 1) / 2;
  const double qk = number_of("MultiHeadAttention", layer.query_key);
  const bool one_side = same_sides(seen);
  const LogitDraws left(seen.left_root, seen.left, blocks.left_may(), qk);
  std::optional<LogitDraws> other;
  if (!one_side) other.emplace(seen.right_root, seen.right, blocks.right_may(), qk);
  const LogitDraws& right = one_side ? left : *other;
  const std::int64_t r = left.rank();
  const bool same = same_elements(seen.nngp, values.nngp), may_be_features = same && r < 2 * t;
  // J(k) (top of this file) is computed from covariances (features.h) only if this costs less than
  // its formula in head_moments.cpp, that is, less than 3·T³ + 3·T²·R multiplications
  // (pair_sums.cpp).
  const bool covariances = tangent && covariance_size(r) <= 3 * (t + r);
  PairSums sums(layer, blocks, {r, same, upper_triangle(seen)}, value, tangent);
  KeptDraws* const kept = PassScope::kept();
  if (kept) kept->expect({layer.rng.seed(), layer.rng.stream(), r}, draws);
  SharedDraws shared(layer.rng, r, kept);
  const auto make = [&](std::int64_t begin, std::int64_t end) {
    const std::vector<Tensor> z = shared.of(begin, end);
    InputDraws x;
    x.left = left.weights(z, layer.rng, begin, one_side ? Sides::both : Sides::left);
    x.right = one_side ? x.left : right.weights(z, layer.rng, begin, Sides::right);
    if (!may_be_features) return x;
    const std::int64_t count = 2 * (end - begin);
    x.of_left.emplace(left, x.left, Sides::left, t, count, covariances);
    x.of_right.emplace(right, x.right, Sides::right, t, count, covariances);
    return x;
  };
  const auto add = [&](const InputDraws& x, std::int64_t count) {
    sums.add(count, [&](std::int64_t pair) {
      const std::int64_t n = blocks.left_input(pair), m = blocks.right_input(pair);
      DrawnPair drawn{x.left.left(n), x.right.right(m), x.right.turned(m), left.common(n),
                      right.common_turned(m)};
      // Whether features are used is decided for each pair, so that the bits of its result do not
      // depend on the rest of the block.
      if (!may_be_features || !left.explained(n) || !right.explained(m)) return drawn;
      drawn.left_means = x.of_left->means(n), drawn.right_means = x.of_right->means(m);
      if (!covariances) return drawn;
      drawn.left_covariances = x.of_left->covariances(n);
      drawn.right_covariances = x.of_right->covariances(m);
      return drawn;
    });
  };
  DrawLoop loop(draws);
  loop.run(make, add);
  sums.finish(2 * static_cast<double>(loop.done()));
}

}  // namespace ladon::infinite
