// With P = ζ(G(n)), P' = ζ(G(m)) at one draw of the logits (logits.h) and softmax's Jacobian
// ∂ζ_ai/∂G_ac = P_ai·(1{i = c} − P_ac),
//   Σ_ij v_ij Σ_ce ∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be·X_ce
//     = Σ_ce P_ac·P'_be·X_ce·[v_ce − (P·v)_ae − (v·P'ᵀ)_cb + (P·v·P'ᵀ)_ab]
//     = [(P·(X∘v) − (P·v)∘(P·X))·P'ᵀ − P·((X·P'ᵀ)∘(v·P'ᵀ)) + (P·X·P'ᵀ)∘(P·v·P'ᵀ)]_ab.
// With k = x·xᵀ and v = y·yᵀ this is ⟨C_a, C'_b⟩, where C_a = Σ_c P_ac·(x_c − ·)(y_c − ȳ_a)ᵀ is the
// covariance of the keys and values that query a attends to: what moving its logits can move. So the
// tangent kernel, as the NNGP kernel P·v·P'ᵀ, is an inner product of what each input makes alone, and
// a mean over draws of positive semi-definite matrices.

#include "ladon/layers/infinite/attention/draws.h"

#include <algorithm>
#include <vector>

#include "ladon/core/blas.h"
#include "ladon/core/parallel.h"
#include "ladon/layers/infinite/attention/logits.h"

namespace ladon::infinite {
namespace {

using Block = std::vector<double>;

/// Adds up the draws of one pair; its buffers serve pair after pair.
class Average {
 public:
  Average(const AttentionLimit& layer, std::int64_t positions)
      : layer_(layer), t_(positions), size_(positions * positions) {
    for (Block* b : {&pv_, &vp_, &px_, &xp_, &pxp_, &pvp_, &w_, &xv_})
      b->resize(static_cast<std::size_t>(size_));
  }

  /// The sums of one pair over draws, [T, T] each: Σ P·v·P'ᵀ; and where there is an NTK Σ P·u·P'ᵀ and
  /// the formula above for X = k and X = t.
  struct Sums {
    double *value, *tangent, *slope_k, *slope_t;
  };

  /// `count` draws: P at p, P'ᵀ at qt.
  void add(const PairBlocks& x, const double* p, const double* qt, std::int64_t count,
           const Sums& sums) {
    const bool moving = x.t && std::any_of(x.t, x.t + size_, [](double t) { return t != 0; });
    const bool learning = x.u && std::any_of(x.u, x.u + size_, [](double u) { return u != 0; });
    for (std::int64_t s = 0; s < count; ++s, p += size_, qt += size_) {
      product(p, x.v, pv_.data());
      product(pv_.data(), qt, pvp_.data());
      for (std::int64_t i = 0; i < size_; ++i) sums.value[i] += pvp_[static_cast<std::size_t>(i)];
      if (!x.u) continue;
      if (learning) {
        product(p, x.u, w_.data());
        product(w_.data(), qt, sums.tangent, 1, 1);
      }
      product(x.v, qt, vp_.data());
      add_jacobians(x.v, x.k, p, qt, sums.slope_k);
      if (moving) add_jacobians(x.v, x.t, p, qt, sums.slope_t);
    }
  }

  void finish(const PairBlocks& x, double count, const Sums& sums) const {
    const double qk = layer_.query_key.item();
    for (std::int64_t i = 0; i < size_; ++i) {
      sums.value[i] /= count;
      if (!x.u) continue;
      const double slopes =
          (layer_.query_key_trained * x.k[i] + x.t[i]) * sums.slope_k[i] + x.k[i] * sums.slope_t[i];
      sums.tangent[i] = (sums.tangent[i] + qk * qk * slopes) / count;
    }
  }

 private:
  // alpha·[T,T]·[T,T] + beta·y
  void product(const double* a, const double* b, double* y, double alpha = 1, double beta = 0) {
    blas::gemm_serial<double>(t_, t_, t_, alpha, {a, t_, 1}, {b, t_, 1}, beta, {y, t_, 1});
  }

  /// The formula at the top of this file, for one X.
  void add_jacobians(const double* v, const double* x, const double* p, const double* qt,
                     double* sum) {
    const std::size_t n = static_cast<std::size_t>(size_);
    product(p, x, px_.data());
    product(px_.data(), qt, pxp_.data());
    product(x, qt, xp_.data());
    for (std::size_t i = 0; i < n; ++i) {
      xv_[i] = x[i] * v[i];
      w_[i] = pv_[i] * px_[i];
      xp_[i] *= vp_[i];
      sum[i] += pxp_[i] * pvp_[i];
    }
    product(p, xv_.data(), w_.data(), 1, -1);  // P·(X∘v) − (P·v)∘(P·X)
    product(w_.data(), qt, sum, 1, 1);
    product(p, xp_.data(), sum, -1, 1);
  }

  const AttentionLimit& layer_;
  std::int64_t t_, size_;
  Block pv_, vp_, pvp_;           // P·v, v·P'ᵀ, P·v·P'ᵀ
  Block px_, xp_, pxp_, w_, xv_;  // the same of X, and what is summed
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
  Average::Sums of(std::int64_t pair) const {
    const std::int64_t at = pair * size;
    const auto moved = [at](double* x) { return x ? x + at : x; };
    return {moved(first.value), moved(first.tangent), moved(first.slope_k), moved(first.slope_t)};
  }

  std::int64_t size;
  Average::Sums first;
  Block slope_k, slope_t;
};

}  // namespace

void average_over_draws(const AttentionLimit& layer, const Pairs& seen, const BlockList& blocks,
                        double* value, double* tangent) {
  constexpr std::int64_t at_once = 8;  // draws whose weights are kept for all inputs
  const std::int64_t t = blocks.positions(), size = t * t, draws = (layer.samples + 1) / 2;
  const double qk = layer.query_key.item();
  const LogitDraws left(seen.left_root, seen.left, blocks.left_may(), qk);
  const LogitDraws right(seen.right_root, seen.right, blocks.right_may(), qk);
  const AllSums sums(blocks, value, tangent);
  for (std::int64_t begin = 0; begin < draws; begin += at_once) {
    const std::int64_t end = std::min(draws, begin + at_once), count = 2 * (end - begin);
    const Tensor p = left.weights(layer.rng, begin, end, false);
    const Tensor qt = right.weights(layer.rng, begin, end, true);
    parallel::for_range(blocks.count(), 1, [&](std::int64_t first, std::int64_t last) {
      Average average(layer, t);
      for (std::int64_t pair = first; pair < last; ++pair) {
        const PairBlocks x = blocks[pair];
        average.add(x, p.data<double>() + blocks.left_input(pair) * count * size,
                    qt.data<double>() + blocks.right_input(pair) * count * size, count,
                    sums.of(pair));
        if (end == draws) average.finish(x, 2 * static_cast<double>(draws), sums.of(pair));
      }
    });
  }
}

}  // namespace ladon::infinite
