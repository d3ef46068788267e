// Moments of attention as means over draws of the logits (logits.h). At one draw P = ζ(G(n)) and
// P' = ζ(G(m)), and the moments are those of one head (head_moments.cpp). If k = x·xᵀ and v = y·yᵀ,
// the one of softmax's Jacobians for X = k is ⟨C_a, C'_b⟩. C_a = Σ_c P_ac·(x_c − x̄_a)(y_c − ȳ_a)ᵀ
// is the covariance of the keys and values that query a attends to: what moving its logits can
// move. So the tangent kernel is, like the NNGP kernel P·v·P'ᵀ, an inner product of what each input
// makes alone, and a mean over draws of positive semidefinite matrices.

#include "ladon/layers/infinite/attention/draws.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "ladon/core/linalg/blas.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/attention/logits.h"

namespace ladon::infinite {
namespace {

using Block = std::vector<double>;

/// Sums over draws of one pair, [T, T] each: of P·v·P'ᵀ; and where there is an NTK of P·u·P'ᵀ and
/// of the formula of head_moments.cpp for X = k and X = t.
struct Sums {
  double *value, *tangent, *slope_k, *slope_t;
};

/// Adds up S draws of a pair at a time, in products that are S times as long as those of one: a and
/// b stand for queries, i and j for keys, s for draws. Its buffers serve pair after pair.
class Average {
 public:
  Average(const AttentionLimit& layer, std::int64_t positions, std::int64_t count, bool tangent)
      : layer_(layer), t_(positions), size_(positions * positions), s_(count), long_(t_ * count) {
    pv_.resize(static_cast<std::size_t>(size_ * count));
    if (!tangent) return;
    for (Block* b : {&px_, &w_, &qv_, &qx_, &both_}) b->resize(pv_.size());
    for (Block* b : {&xv_, &pvq_, &pxq_}) b->resize(static_cast<std::size_t>(size_));
  }

  void add(const PairBlocks& x, const double* p, const InputWeights& q, const Sums& sums) {
    from_left(p, x.v, pv_);
    over_draws(pv_.data(), q.turned, 1, sums.value);
    if (!x.u) return;
    const auto any = [this](const double* block) {
      return std::any_of(block, block + size_, [](double e) { return e != 0; });
    };
    if (any(x.u)) {
      from_left(p, x.u, w_);
      over_draws(w_.data(), q.turned, 1, sums.tangent);
    }
    from_right(q.rows, x.v, qv_);
    add_jacobians(x.v, x.k, p, q, sums.slope_k);
    if (any(x.t)) add_jacobians(x.v, x.t, p, q, sums.slope_t);
  }

  void finish(const PairBlocks& x, double count, const Sums& sums) const {
    const double qk = layer_.query_key.item();
    for (std::int64_t i = 0; i < size_; ++i) {
      sums.value[i] /= count;
      if (!x.u) continue;
      const double moved = x.t[i] + layer_.query_bias_trained;
      const double slopes =
          (layer_.query_key_trained * x.k[i] + moved) * sums.slope_k[i] + x.k[i] * sums.slope_t[i];
      sums.tangent[i] = (sums.tangent[i] + qk * qk * slopes) / count;
    }
  }

 private:
  /// P·X of each draw:  [(a, s), i]·[i, j] → [a, s, j]
  void from_left(const double* p, const double* x, Block& y) const {
    blas::gemm_serial<double>(long_, t_, t_, 1, {p, t_, 1}, {x, t_, 1}, 0, {y.data(), t_, 1});
  }
  /// P'·Xᵀ of each draw:  [(s, b), j]·[j, i] → [s, b, i]
  void from_right(const double* q, const double* x, Block& y) const {
    blas::gemm_serial<double>(long_, t_, t_, 1, {q, t_, 1}, {x, 1, t_}, 0, {y.data(), t_, 1});
  }
  /// sum += sign·Σ_s Y·Z:  [a, (s, j)]·[(s, j), b] → [a, b]
  void over_draws(const double* y, const double* z, double sign, double* sum) const {
    blas::gemm_serial<double>(t_, t_, long_, sign, {y, long_, 1}, {z, t_, 1}, 1, {sum, t_, 1});
  }

  /// The formula of head_moments.cpp, for one X.
  void add_jacobians(const double* v, const double* x, const double* p, const InputWeights& q,
                     double* sum) {
    from_left(p, x, px_);
    for (std::int64_t i = 0; i < size_; ++i) xv_[static_cast<std::size_t>(i)] = x[i] * v[i];
    from_left(p, xv_.data(), w_);
    for (std::size_t i = 0; i < w_.size(); ++i) w_[i] -= pv_[i] * px_[i];
    over_draws(w_.data(), q.turned, 1, sum);  // P·(X∘v) − (P·v)∘(P·X)
    from_right(q.rows, x, qx_);
    for (std::int64_t s = 0; s < s_; ++s)
      for (std::int64_t b = 0; b < t_; ++b)
        for (std::int64_t i = 0; i < t_; ++i) {
          const auto at = static_cast<std::size_t>(s * size_ + b * t_ + i);
          both_[static_cast<std::size_t>(s * size_ + i * t_ + b)] = qx_[at] * qv_[at];
        }
    over_draws(p, both_.data(), -1, sum);
    for (std::int64_t s = 0; s < s_; ++s) {
      const double* turned = q.turned + s * size_;
      const auto one_draw = [&](const Block& y, Block& product) {
        blas::gemm_serial<double>(t_, t_, t_, 1, {y.data() + s * t_, long_, 1}, {turned, t_, 1}, 0,
                                  {product.data(), t_, 1});
      };
      one_draw(px_, pxq_);
      one_draw(pv_, pvq_);
      for (std::size_t i = 0; i < pxq_.size(); ++i) sum[i] += pxq_[i] * pvq_[i];
    }
  }

  const AttentionLimit& layer_;
  std::int64_t t_, size_, s_, long_;  // T, T², S and T·S
  Block pv_, px_, w_;                 // P·v, P·X and what is summed, [a, s, j]
  Block qv_, qx_, both_;              // P'·vᵀ, P'·Xᵀ [s, b, i], and their product [s, i, b]
  Block xv_, pxq_, pvq_;              // X∘v; P·X·P'ᵀ and P·v·P'ᵀ of one draw
};

/// Sums of all pairs, [count, T, T] each.
struct AllSums {
  AllSums(const BlockList& blocks, double* value, double* tangent)
      : size(blocks.positions() * blocks.positions()), first{value, tangent, nullptr, nullptr} {
    const std::int64_t all = blocks.count() * size;
    std::fill_n(value, all, 0);
    if (!tangent) return;
    std::fill_n(tangent, all, 0);
    for (Block* slope : {&slope_k, &slope_t}) slope->resize(static_cast<std::size_t>(all));
    first.slope_k = slope_k.data();
    first.slope_t = slope_t.data();
  }
  Sums of(std::int64_t pair) const {
    const std::int64_t at = pair * size;
    const auto moved = [at](double* x) { return x ? x + at : x; };
    return {moved(first.value), moved(first.tangent), moved(first.slope_k), moved(first.slope_t)};
  }

  std::int64_t size;
  Sums first;
  Block slope_k, slope_t;
};

/// P·Φ of a block of inputs at S draws: where v = Φ·Φ'ᵀ, P·v·P'ᵀ is the product of these.
struct Attended {
  Attended(const LogitDraws& draws, const DrawnWeights& weights, std::int64_t t, std::int64_t count)
      : each(count * t * draws.rank()), values(static_cast<std::size_t>(draws.inputs() * each)) {
    const std::int64_t r = draws.rank();
    parallel::for_range(draws.inputs(), 1, [&](std::int64_t n, std::int64_t end) {
      for (; n < end; ++n) {
        const InputWeights p = weights.of(n);
        double* to = values.data() + n * each;
        if (!p.turned) {  // [(a, s), i]·[i, r] → [a, s, r]
          blas::gemm_serial<double>(t * count, r, t, 1, {p.rows, t, 1}, {draws.common(n), r, 1}, 0,
                                    {to, r, 1});
          continue;
        }
        for (std::int64_t s = 0; s < count; ++s)  // [r, j]·[j, b] → [s, r, b]
          blas::gemm_serial<double>(r, t, t, 1, {draws.common_turned(n), t, 1},
                                    {p.turned + s * t * t, t, 1}, 0, {to + s * r * t, t, 1});
      }
    });
  }
  const double* of(std::int64_t input) const { return values.data() + input * each; }

  std::int64_t each;
  Block values;
};

}  // namespace

void average_over_draws(const AttentionLimit& layer, const Pairs& seen, const Pairs& values,
                        double* value, double* tangent) {
  const BlockList blocks(layer, seen, values);
  constexpr std::int64_t at_once = 8;  // draws whose weights are kept for all inputs
  constexpr std::int64_t tasks = 64;   // few enough that their buffers cost nothing
  const std::int64_t t = blocks.positions(), draws = (layer.samples + 1) / 2;
  const double qk = layer.query_key.item();
  const LogitDraws left(seen.left_root, seen.left, blocks.left_may(), qk);
  const LogitDraws right(seen.right_root, seen.right, blocks.right_may(), qk);
  const bool may_be_features =
      !tangent && same_elements(seen.nngp, values.nngp) && left.rank() < 2 * t;
  const AllSums sums(blocks, value, tangent);
  SharedDraws shared(layer.rng, left.rank());
  for (std::int64_t begin = 0; begin < draws; begin += at_once) {
    const std::int64_t end = std::min(draws, begin + at_once);
    const DrawnWeights p = left.weights(shared, begin, end, DrawnWeights::left);
    const DrawnWeights q = right.weights(shared, begin, end, DrawnWeights::right);
    const std::int64_t grain = std::max<std::int64_t>(1, (blocks.count() + tasks - 1) / tasks);
    const std::int64_t count = 2 * (end - begin), inner = count * left.rank();
    std::optional<Attended> one, other;
    if (may_be_features) {
      one.emplace(left, p, t, count);
      other.emplace(right, q, t, count);
    }
    parallel::for_range(blocks.count(), grain, [&](std::int64_t pair, std::int64_t last) {
      Average average(layer, t, count, tangent != nullptr);
      for (; pair < last; ++pair) {
        const std::int64_t n = blocks.left_input(pair), m = blocks.right_input(pair);
        // Decided by the pair alone: its bits do not depend on what else is in the block.
        if (may_be_features && left.explained(n) && right.explained(m)) {
          blas::gemm_serial<double>(t, t, inner, 1 / (2 * static_cast<double>(draws)),
                                    {one->of(n), inner, 1}, {other->of(m), t, 1}, 1,
                                    {value + pair * t * t, t, 1});  // [a, (s, r)]·[(s, r), b]
          continue;
        }
        const PairBlocks x = blocks[pair];
        average.add(x, p.of(n).rows, q.of(m), sums.of(pair));
        if (end == draws) average.finish(x, 2 * static_cast<double>(draws), sums.of(pair));
      }
    });
  }
}

}  // namespace ladon::infinite
