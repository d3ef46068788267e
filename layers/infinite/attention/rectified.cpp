// Attention with ζ = relu or abs and sqrt scaling, at infinitely many heads.
//
// The logits (G_ai(n), G_bj(m)) are normal with variances QK²·k_aa·k_ii and QK²·k'_bb·k'_jj and
// covariance QK²·k_ab·k_ij. Their standard deviations, and their correlation ρ_ab·ρ_ij, are products
// of a factor of the queries (a, b) and one of the keys (i, j). With s_ab = sqrt(k_aa·k'_bb) and the
// arc-cosine kernels κ, κ' at unit variance (Cho and Saul 2009), ζ being homogeneous of degree 1,
//   E[ζ_ai·ζ'_bj]                     = QK²·s_ab·s_ij·κ(ρ_ab·ρ_ij)
//   E[∂ζ_ai/∂G_ai·∂ζ'_bj/∂G_bj]       = κ'(ρ_ab·ρ_ij)      (other derivatives are 0)
//   value   = QK²·s_ab·Σ_ij v_ij·s_ij·κ
//   tangent = QK²·[ s_ab·Σ_ij u_ij·s_ij·κ + (2·k_ab + t_ab)·Σ_ij v_ij·k_ij·κ' + k_ab·Σ_ij v_ij·t_ij·κ' ]
// Of each pair of inputs, T² pairs of queries with T² pairs of keys (key_sums.h).

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/layers/infinite/attention/key_sums.h"
#include "ladon/layers/infinite/attention/limit.h"

namespace ladon::infinite {
namespace {

/// sqrt(p·q), and k/sqrt(p·q), which is 0 where a variance is 0 and stays within ±1.
struct Normalized {
  Tensor scale, correlation;
};
Normalized normalize(const Pairs& seen) {
  const Tensor scale = sqrt(seen.left_variance() * seen.right_variance());
  const Tensor safe = where(greater(scale, 0), scale, scalar(1, f64));
  return {scale, clamp(where(greater(scale, 0), seen.nngp, scalar(0, f64)) / safe, -1, 1)};
}

KeyFactors key_factors(const AttentionLimit& layer, const Pairs& seen, const Pairs& values,
                       const Normalized& k) {
  Tensor may = ones({1, 1}, f64);
  if (seen.left_mask.defined()) may = may * cast(unsqueeze(seen.left_mask, -1), f64);
  if (seen.right_mask.defined()) may = may * cast(unsqueeze(seen.right_mask, -2), f64);
  const Tensor v = values.nngp * may;
  KeyFactors y{contiguous(k.correlation), {contiguous(v * k.scale), {}, {}, {}}};
  if (!values.ntk.defined()) return y;
  y.weight[1] = contiguous(values.ntk * may * k.scale);
  y.weight[2] = contiguous(v * seen.nngp);
  y.weight[3] = contiguous(v * (seen.ntk + layer.key_bias_trained));
  return y;
}

}  // namespace

AttentionMoments rectified_moments(const AttentionLimit& layer, const Pairs& seen,
                                   const Pairs& values) {
  check_no_gradient("relu or abs", layer, seen, values);
  const bool tangent = values.ntk.defined();
  const Normalized k = normalize(seen);
  const KeySums sums =
      key_sums(layer.form.weighting, layer.causal, key_factors(layer, seen, values, k));
  const Tensor qk = square(layer.query_key);
  AttentionMoments m{qk * k.scale * sums.of[0], {}};
  if (!tangent) return m;
  m.tangent = qk * (k.scale * sums.of[1] +
                    (layer.query_key_trained * seen.nngp + seen.ntk + layer.query_bias_trained) *
                        sums.of[2] +
                    seen.nngp * sums.of[3]);
  return m;
}

}  // namespace ladon::infinite
