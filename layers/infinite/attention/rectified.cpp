// Attention with ζ = relu or abs and sqrt scaling, with infinitely many heads, in the notation of
// limit.h.
//
// The logits (G_ai(n), G_bj(m)) are normal with variances QK²·k_aa·k_ii and QK²·k'_bb·k'_jj and
// covariance QK²·k_ab·k_ij. Their standard deviations, and their correlation ρ_ab·ρ_ij, are
// products of a factor of the queries (a, b) and one of the keys (i, j). Since ζ is homogeneous of
// degree 1, with s_ab = sqrt(k_aa·k'_bb) and the arc-cosine kernels κ, κ' at unit variance (Cho and
// Saul 2009),
//   E[ζ_ai·ζ'_bj]                     = QK²·s_ab·s_ij·κ(ρ_ab·ρ_ij)
//   E[∂ζ_ai/∂G_ai·∂ζ'_bj/∂G_bj]       = κ'(ρ_ab·ρ_ij)      (other derivatives are 0)
//   value   = QK²·s_ab·Σ_ij v_ij·s_ij·κ
// tangent = QK²·[s_ab·Σ_ij u_ij·s_ij·κ + (2k_ab + t_ab)·Σ_ij v_ij·k_ij·κ' + k_ab·Σ_ij v_ij·t_ij·κ']
// A pair of inputs has T² pairs of queries, each with T² pairs of keys (key_sums.h).

#include "ladon/autograd/forms.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/layers/infinite/attention/key_sums.h"
#include "ladon/layers/infinite/attention/limit.h"
#include "ladon/layers/infinite/attention/pair_products.h"
#include "ladon/layers/infinite/dual/dual.h"

namespace ladon::infinite {
namespace {

/// sqrt(p·q) for the variances p and q of a pair, and the correlation k/sqrt(p·q), clamped to ±1;
/// it is 0 if a variance is 0.
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

AttentionMoments by_sums(const AttentionLimit& layer, const Pairs& seen, const Pairs& values) {
  const Normalized k = normalize(seen);
  const KeySums sums =
      key_sums(layer.form.weighting, layer.causal, key_factors(layer, seen, values, k));
  const Tensor qk2 = square(layer.query_key);
  AttentionMoments m{qk2 * k.scale * sums.of[0], {}};
  if (!values.ntk.defined()) return m;
  m.tangent = qk2 * (k.scale * sums.of[1] +
                     (layer.query_key_trained * seen.nngp + seen.ntk + layer.query_bias_trained) *
                         sums.of[2] +
                     seen.nngp * sums.of[3]);
  return m;
}

/// The formulas above, in differentiable operations on blocks [P, Tq, Tq, Tk, Tk] with axes (a, b,
/// i, j).
AttentionMoments composed(const AttentionLimit& layer, const Seen& seen, const Pairs& values) {
  const auto queries = [](const Tensor& x) { return unsqueeze(unsqueeze(x, -1), -1); };
  const auto keys = [](const Tensor& x) { return unsqueeze(unsqueeze(x, -3), -3); };
  const Pairs &of_q = seen.queries, &of_k = seen.keys;
  const auto visible_keys = [&](const Tensor& mask) {
    return visible(layer, mask, of_q.nngp.size(-1), of_k.nngp.size(-1));
  };
  const Tensor left = visible_keys(of_k.left_mask), right = visible_keys(of_k.right_mask);
  const Tensor may = unsqueeze(unsqueeze(left, -1), -3) * unsqueeze(unsqueeze(right, -2), -4);
  const Tensor qk2 = square(layer.query_key), &k = of_q.nngp;
  const auto product = [&](const Tensor& q, const Tensor& of_keys) {
    return qk2 * queries(q) * keys(of_keys);
  };
  const DualFunction f =
      layer.form.weighting == Weighting::relu ? DualFunction::relu() : DualFunction::abs();
  const bool tangent = values.ntk.defined();
  const DualResult e = dual_of_computed(f, product(of_q.left_variance(), of_k.left_variance()),
                                        product(of_q.right_variance(), of_k.right_variance()),
                                        product(k, of_k.nngp), tangent);
  const auto over_keys = [&](const Tensor& weights, const Tensor& x) {
    return sum(weights * keys(x), {-2, -1});
  };
  const Tensor weights = may * e.value;
  AttentionMoments m{over_keys(weights, values.nngp), {}};
  if (!tangent) return m;
  const Tensor slopes = may * e.derivative, &v = values.nngp;
  m.tangent = over_keys(weights, values.ntk) +
              qk2 * ((layer.query_key_trained * k + of_q.ntk + layer.query_bias_trained) *
                         over_keys(slopes, v * of_k.nngp) +
                     k * over_keys(slopes, v * (of_k.ntk + layer.key_bias_trained)));
  return m;
}

}  // namespace

AttentionMoments rectified_moments(const AttentionLimit& layer, const Seen& seen,
                                   const Pairs& values) {
  if (!seen.self()) return composed(layer, seen, values);
  const Pairs& both = seen.keys;
  return fast_or_composed(
      "rectified_moments",
      {layer.query_key, both.nngp, both.ntk, both.left, both.right, values.nngp, values.ntk},
      [&] { return by_sums(layer, both, values); }, [&] { return composed(layer, seen, values); });
}

}  // namespace ladon::infinite
