// Attention with finitely many heads, given their logits (Sakai, Karakida and Imaizumi 2025, "Infinite-
// width limit of a single attention layer": outputs are Gaussian given these).
//
// All inputs share the forms B_h of the heads, so that input n has logits G_h(n) = QK·Φ_n·B_h·Φ_nᵀ. With
// ζ = ζ(G_h(n)) and ζ' = ζ(G_h(m)), and Q, K, V, O of infinite width but for the heads' scales r_h, the
// expectations of limit.h become means over the heads:
//   value   = 1/H Σ_h r_h·ζ·v·ζ'ᵀ
//   tangent = 1/H Σ_h ζ·u·ζ'ᵀ + Σ_ij v_ij Σ_ce ∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be·D_ab,ce
// With an elementwise ζ of slopes η, the last sum over X_ce is η·(X∘v)·η'ᵀ. With softmax P = ζ(G),
// ∂P_ai/∂G_ac = P_ai·(1{i = c} − P_ac), it is
//   Σ_ce P_ac·P'_be·X_ce·[v_ce − (P·v)_ae − (v·P'ᵀ)_cb + (P·v·P'ᵀ)_ab]
//     = [(P·(X∘v) − (P·v)∘(P·X))·P'ᵀ − P·((X·P'ᵀ)∘(v·P'ᵀ)) + (P·X·P'ᵀ)∘(P·v·P'ᵀ)]_ab.

#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/attention/limit.h"
#include "ladon/layers/infinite/attention/pair_products.h"

namespace ladon::infinite {
namespace {

/// ζ(G) of one side for some heads, [H, P, T, T], and dζ/dG of an elementwise ζ.
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

HeadWeights weights_of(const AttentionLimit& layer, const Tensor& forms, const Root& root,
                       const Tensor& mask) {
  const Tensor& tokens = root.common;  // [P, T, R]
  Shape each{forms.size(0)};           // [H, 1, R, R]
  for (int axis = 2; axis < tokens.rank(); ++axis) each.append(1);
  each.append(forms.size(1));
  each.append(forms.size(2));
  const Tensor logits =
      layer.query_key * matmul(matmul(tokens, reshape(forms, each)), transpose(tokens));
  const Tensor may = visible(mask, logits.size(-1), layer.causal);
  if (layer.form.weighting == Weighting::softmax)
    return {apply(Weighting::softmax, where(greater(may, 0), logits, scalar(-INFINITY, f64))), {}};
  return {may * apply(layer.form.weighting, logits), may * slope_of(layer.form.weighting, logits)};
}

/// What some heads make of pairs, each for itself: [H, P, T, T].
class SomeHeads {
 public:
  SomeHeads(const AttentionLimit& layer, const Pairs& seen, const Pairs& values,
            const Tensor& forms)
      : layer_(layer),
        seen_(seen),
        values_(values),
        left_(weights_of(layer, forms, seen.left_root, seen.left_mask)),
        right_(weights_of(layer, forms, seen.right_root, seen.right_mask)),
        turned_(transpose(right_.zeta)) {}

  Tensor value() const { return between(values_.nngp); }
  Tensor tangent() const {
    const Tensor &k = seen_.nngp, &t = seen_.ntk;
    return between(values_.ntk) +
           square(layer_.query_key) *
               ((layer_.query_key_trained * k + t + layer_.query_bias_trained) * jacobians(k) +
                k * jacobians(t + layer_.key_bias_trained));
  }

 private:
  Tensor between(const Tensor& x) const { return matmul(matmul(left_.zeta, x), turned_); }

  /// Σ_ij v_ij Σ_ce ∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be·X_ce.
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
  const Pairs &seen_, &values_;
  HeadWeights left_, right_;
  Tensor turned_;
};

}  // namespace

AttentionMoments head_moments(const AttentionLimit& layer, const Pairs& seen, const Pairs& values) {
  const HeadLatents& latents = *layer.heads;
  const Tensor forms = latents.form(), scale = latents.scale();
  const bool tangent = values.ntk.defined();
  LADON_CHECK(!tangent || (latents.logits.defined() && !latents.output.defined()),
              "MultiHeadAttention",
              "the tangent kernel of finitely many heads is known at infinite key_width and "
              "value_width alone");
  AttentionMoments m{zeros(seen.nngp.shape(), f64),
                     tangent ? zeros(seen.nngp.shape(), f64) : Tensor()};
  constexpr std::int64_t held = 1 << 20;  // numbers of all heads that are treated at once
  const std::int64_t at_once =
      std::max<std::int64_t>(1, held / std::max<std::int64_t>(1, m.value.count()));
  for (std::int64_t begin = 0; begin < latents.heads(); begin += at_once) {
    const Slice some{.start = begin, .stop = begin + at_once};
    const SomeHeads heads(layer, seen, values, slice(forms, 0, some));
    // [H] · [H, P·T·T] → [P, T, T]
    const auto weighted = [&](const Tensor& of_each) {
      const Tensor r = reshape(slice(scale, 0, some), {1, of_each.size(0)});
      return reshape(matmul(r, flatten(of_each, 1, -1)), seen.nngp.shape());
    };
    m.value = m.value + weighted(heads.value());
    if (tangent) m.tangent = m.tangent + weighted(heads.tangent());
  }
  const auto count = static_cast<double>(latents.heads());
  return {m.value / count, tangent ? m.tangent / count : Tensor()};
}

}  // namespace ladon::infinite
