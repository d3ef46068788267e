// Softmax attention with sqrt scaling and infinitely many heads: expectations over Gaussian logits,
// in closed form for one or two positions, otherwise averaged over draws (draws.h). Notation as in
// limit.h.
//
// Two positions. Softmax is the logistic function of x_a = G_a0 − G_a1: ζ_a0 = σ(x_a), ζ_a1 =
// 1 − σ(x_a). With Δ(X) = X_00 − X_01 − X_10 + X_11, (x_a, x'_b) is normal with variances
// QK²·k_aa·Δ(k(n,n)) and QK²·k'_bb·Δ(k(m,m)) and covariance QK²·k_ab·Δ(k). By symmetry E σ(x_a) =
// ½, so, with σ̇ = dσ/dx,
//   E[ζ_ai·ζ'_bj] = ¼ + ±_i·±_j·e,   e = E[σ(x_a)·σ(x'_b)] − ¼,   ±_0 = 1, ±_1 = −1
//   Σ_ij v_ij Σ_ce E[∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be]·X_ce = e'·Δ(v)·Δ(X),  e' = E[σ̇(x_a)·σ̇(x'_b)].
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

/// Attention weights of one side of the pairs, with at most two keys.
struct View {
  Tensor mean;  ///< E ζ_ai, [P, Tq, Tk]
  Tensor free;  ///< 1 where ζ depends on the logits, because both keys are visible: [P, Tq, 1]

  explicit View(const Tensor& may) {
    const Tensor seen = sum(may, -1, keep_dims);
    mean = may / maximum(seen, scalar(1, f64));
    free = cast(equal(seen, 2), f64);
  }
};

/// Δ(X) = X_00 − X_01 − X_10 + X_11, [P, 1, 1].
Tensor difference(const Tensor& x) {
  const Tensor sign = tensor({1, -1}, {1, 2}, f64);
  return matmul(matmul(sign, x), transpose(sign));
}

AttentionMoments of_two_keys(const AttentionLimit& layer, const Seen& seen, const Pairs& values) {
  const Pairs &queries = seen.queries, &keys = seen.keys;
  const std::int64_t count = keys.nngp.size(-1);
  const auto view = [&](const Tensor& mask) {
    return View(visible(layer, mask, queries.nngp.size(-1), count));
  };
  const View left = view(keys.left_mask), right = view(keys.right_mask);
  const auto mean_of = [&](const Tensor& x) {
    return matmul(matmul(left.mean, x), transpose(right.mean));
  };
  const bool tangent = values.ntk.defined();
  AttentionMoments m{mean_of(values.nngp), tangent ? mean_of(values.ntk) : Tensor()};
  if (count < 2) return m;
  const Tensor qk2 = square(layer.query_key), &k = queries.nngp, key = difference(keys.nngp);
  const DualResult e = dual_of_computed(
      DualFunction::sigmoid(), qk2 * queries.left_variance() * relu(difference(keys.left)),
      qk2 * queries.right_variance() * relu(difference(keys.right)), qk2 * k * key, tangent);
  const Tensor free = left.free * transpose(right.free), v = difference(values.nngp);
  const Tensor covariance = free * (e.value - 0.25);
  m.value = m.value + covariance * v;
  if (!tangent) return m;
  const Tensor tangents =
      (layer.query_key_trained * k + queries.ntk + layer.query_bias_trained) * key +
      k * difference(keys.ntk);
  m.tangent =
      m.tangent + covariance * difference(values.ntk) + free * e.derivative * v * (qk2 * tangents);
  return m;
}

}  // namespace

AttentionMoments softmax_moments(const AttentionLimit& layer, const Seen& seen,
                                 const Pairs& values) {
  if (!draws(layer.form, seen.keys.nngp.size(-1))) return of_two_keys(layer, seen, values);
  if (!seen.self()) return composed_average(layer, seen, values);
  const Pairs& both = seen.keys;
  const auto fast = [&] {
    AttentionMoments m{empty(both.nngp.shape(), f64), {}};
    if (values.ntk.defined()) m.tangent = empty(both.nngp.shape(), f64);
    average_over_draws(layer, both, values, m.value.mutable_data<double>(),
                       m.tangent.defined() ? m.tangent.mutable_data<double>() : nullptr);
    return m;
  };
  return fast_or_composed(
      "softmax_moments",
      {layer.query_key, both.nngp, both.ntk, both.left_root.common, both.left_root.own,
       both.right_root.common, both.right_root.own, values.nngp, values.ntk},
      fast, [&] { return composed_average(layer, seen, values); });
}

}  // namespace ladon::infinite
