// One head with given logits (Sakai, Karakida and Imaizumi 2025, arXiv 2506.00846: its outputs are
// Gaussian). For Q, K, V and O of infinite width, with ζ = ζ(G(n)) and ζ' = ζ(G(m)), its moments
// are those of limit.h without the expectations:
//   value   = ζ·v·ζ'ᵀ
//   tangent = ζ·u·ζ'ᵀ + Σ_ij v_ij Σ_ce ∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be·D_ab,ce.
// For an elementwise ζ with slopes η, the last sum, with X in place of D, is η·(X∘v)·η'ᵀ. For
// softmax, P = ζ(G) with ∂P_ai/∂G_ac = P_ai·(1{i = c} − P_ac), it is
//   Σ_ce P_ac·P'_be·X_ce·[v_ce − (P·v)_ae − (v·P'ᵀ)_cb + (P·v·P'ᵀ)_ab]
//     = [(P·(X∘v) − (P·v)∘(P·X))·P'ᵀ − P·((X·P'ᵀ)∘(v·P'ᵀ)) + (P·X·P'ᵀ)∘(P·v·P'ᵀ)]_ab.

#include "ladon/layers/infinite/attention/head_moments.h"

#include <cmath>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/layers/infinite/attention/pair_products.h"

namespace ladon::infinite {
namespace {

/// Attention weights ζ(G) of one side of the pairs, [S, P, Tq, Tk], and the slopes dζ/dG of an
/// elementwise ζ.
struct HeadWeights {
  Tensor zeta, slope;
};

Tensor slope_of(Weighting zeta, const Tensor& logits) {
  switch (zeta) {
    case Weighting::identity:
      return ones_like(logits);
    case Weighting::relu:
      return 0.5 * (sign(logits) + 1);
    case Weighting::abs:
      return sign(logits);
    case Weighting::softmax:
      break;
  }
  return {};
}

HeadWeights with_slopes(const AttentionLimit& layer, const Tensor& logits, const Tensor& mask) {
  const Tensor zeta = weights_of(layer, logits, mask);
  if (layer.form.weighting == Weighting::softmax) return {zeta, {}};
  const Tensor may = visible(layer, mask, logits.size(-2), logits.size(-1));
  return {zeta, may * slope_of(layer.form.weighting, logits)};
}

/// AttentionMoments of each of S heads: [S, P, Tq, Tq].
class SomeHeads {
 public:
  SomeHeads(const AttentionLimit& layer, const Seen& seen, const Pairs& values, const Tensor& left,
            const Tensor& right)
      : layer_(layer),
        seen_(seen),
        values_(values),
        left_(with_slopes(layer, left, seen.keys.left_mask)),
        right_(with_slopes(layer, right, seen.keys.right_mask)),
        turned_(transpose(right_.zeta)) {}

  Tensor value() const { return between(values_.nngp); }
  Tensor tangent() const {
    const Tensor &k = seen_.queries.nngp, &t = seen_.queries.ntk;
    const Tensor by_query =
        (layer_.query_key_trained * k + t + layer_.query_bias_trained) * jacobians(seen_.keys.nngp);
    const Tensor by_key = k * jacobians(seen_.keys.ntk + layer_.key_bias_trained);
    return between(values_.ntk) + square(layer_.query_key) * (by_query + by_key);
  }

 private:
  Tensor between(const Tensor& x) const { return matmul(matmul(left_.zeta, x), turned_); }

  /// Σ_ij v_ij Σ_ce ∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be·X_ce for X = `x`, by the formulas above.
  Tensor jacobians(const Tensor& x) const {
    const Tensor& v = values_.nngp;
    if (layer_.form.weighting != Weighting::softmax)
      return matmul(matmul(left_.slope, x * v), transpose(right_.slope));
    const Tensor &p = left_.zeta, &q = turned_;
    const Tensor px = matmul(p, x), pv = matmul(p, v);
    return matmul(matmul(p, x * v) - pv * px, q) - matmul(p, matmul(x, q) * matmul(v, q)) +
           matmul(px, q) * matmul(pv, q);
  }

  const AttentionLimit& layer_;
  const Seen& seen_;
  const Pairs& values_;
  HeadWeights left_, right_;
  Tensor turned_;
};

}  // namespace

AttentionMoments sum_over_heads(const AttentionLimit& layer, const Seen& seen, const Pairs& values,
                                const Tensor& left, const Tensor& right, const Tensor& weights) {
  const SomeHeads heads(layer, seen, values, left, right);
  // [1, S] · [S, P·Tq·Tq] → [P, Tq, Tq]
  const auto weighted = [&](const Tensor& of_each) {
    return reshape(matmul(unsqueeze(weights, 0), flatten(of_each, 1, -1)),
                   seen.queries.nngp.shape());
  };
  return {weighted(heads.value()), values.ntk.defined() ? weighted(heads.tangent()) : Tensor()};
}

}  // namespace ladon::infinite
