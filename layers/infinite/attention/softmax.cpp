// Softmax attention with sqrt scaling at infinitely many heads: expectations over Gaussian logits.
// Of one or two positions they are closed, of more they are averaged over draws (draws.h).
//
// Two positions. Softmax is the logistic function of x_a = G_a0 − G_a1: ζ_a0 = σ(x_a), ζ_a1 =
// 1 − σ(x_a). With Δ(X) = X_00 − X_01 − X_10 + X_11, (x_a, x'_b) is normal with variances
// QK²·k_aa·Δ(k(n,n)) and QK²·k'_bb·Δ(k(m,m)) and covariance QK²·k_ab·Δ(k). By symmetry E σ = ½, so
//   E[ζ_ai·ζ'_bj] = ¼ + ±_i·±_j·e,   e = E[σσ'] − ¼,   ±_0 = 1, ±_1 = −1
//   Σ_ij v_ij Σ_ce E[∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be]·X_ce = e'·Δ(v)·Δ(X),   e' = E[dσ·dσ'].
// A query that sees one key has ζ = 1 there, whatever the logits, and no derivative.

#include "ladon/autograd/forms.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/layers/infinite/attention/draws.h"
#include "ladon/layers/infinite/attention/pair_products.h"
#include "ladon/layers/infinite/dual/dual.h"

namespace ladon::infinite {
namespace {

/// What the queries of one side see of at most two keys.
struct View {
  Tensor mean;  ///< E ζ_ai, [P, T, T]
  Tensor
      free;  ///< 1 where ζ depends on the logits, because both keys are visible, else 0: [P, T, 1]

  View(const Tensor& mask, std::int64_t positions, bool causal) {
    const Tensor may = visible(mask, positions, causal), seen = sum(may, -1, keep_dims);
    mean = may / maximum(seen, scalar(1, f64));
    free = cast(equal(seen, 2), f64);
  }
};

/// Δ(X), [P, 1, 1].
Tensor difference(const Tensor& x) {
  const Tensor sign = tensor({1, -1}, {1, 2}, f64);
  return matmul(matmul(sign, x), transpose(sign));
}

AttentionMoments of_two_keys(const AttentionLimit& layer, const Pairs& seen, const Pairs& values) {
  const std::int64_t t = seen.nngp.size(-1);
  const View left(seen.left_mask, t, layer.causal), right(seen.right_mask, t, layer.causal);
  const auto mean_of = [&](const Tensor& x) {
    return matmul(matmul(left.mean, x), transpose(right.mean));
  };
  const bool tangent = values.ntk.defined();
  AttentionMoments m{mean_of(values.nngp), tangent ? mean_of(values.ntk) : Tensor()};
  if (t < 2) return m;
  const Tensor qk2 = square(layer.query_key), &k = seen.nngp, key = difference(k);
  const DualResult e =
      dual(DualFunction::sigmoid(), qk2 * seen.left_variance() * relu(difference(seen.left)),
           qk2 * seen.right_variance() * relu(difference(seen.right)), qk2 * k * key, tangent);
  const Tensor free = left.free * transpose(right.free), v = difference(values.nngp);
  const Tensor covariance = free * (e.value - 0.25);
  m.value = m.value + covariance * v;
  if (!tangent) return m;
  const Tensor& t_ab = seen.ntk;
  const Tensor tangents =
      (layer.query_key_trained * k + t_ab + layer.query_bias_trained) * key + k * difference(t_ab);
  m.tangent =
      m.tangent + covariance * difference(values.ntk) + free * e.derivative * v * (qk2 * tangents);
  return m;
}

}  // namespace

AttentionMoments softmax_moments(const AttentionLimit& layer, const Pairs& seen,
                                 const Pairs& values) {
  if (!draws(layer.form, seen.nngp.size(-1))) return of_two_keys(layer, seen, values);
  const auto fast = [&] {
    AttentionMoments m{empty(seen.nngp.shape(), f64), {}};
    if (values.ntk.defined()) m.tangent = empty(seen.nngp.shape(), f64);
    average_over_draws(layer, seen, values, m.value.mutable_data<double>(),
                       m.tangent.defined() ? m.tangent.mutable_data<double>() : nullptr);
    return m;
  };
  return fast_or_composed(
      "softmax_moments",
      {layer.query_key, seen.nngp, seen.ntk, seen.left_root.common, seen.left_root.own,
       seen.right_root.common, seen.right_root.own, values.nngp, values.ntk},
      fast, [&] { return composed_average(layer, seen, values); });
}

}  // namespace ladon::infinite
