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
// which is T⁴ evaluations of κ and κ' a pair of inputs.

#include <algorithm>
#include <cmath>
#include <vector>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/parallel.h"
#include "ladon/layers/infinite/attention/limit.h"
#include "ladon/layers/infinite/attention/pair_products.h"

namespace ladon::infinite {
namespace {

/// The factors of the keys for each pair, [P, T, T]: weights of κ (0, 1) and κ' (2, 3), zero where
/// a key is masked.
struct KeyFactors {
  Tensor correlation, weight[4];
};

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

/// The four sums over keys for every pair (a, b) of queries: Σ w_0·κ, Σ w_1·κ, Σ w_2·κ', Σ w_3·κ'.
struct Sums {
  Tensor of[4];
};

class SumOverKeys {
 public:
  SumOverKeys(Weighting zeta, bool causal, const KeyFactors& keys, bool tangent)
      : beta2_(zeta == Weighting::relu ? 0.25 : 1),  // relu(x) = x/2 + |x|/2
        alpha2_(zeta == Weighting::relu ? 0.25 : 0),
        causal_(causal),
        tangent_(tangent),
        positions_(keys.correlation.size(-1)),
        correlation_(keys.correlation.data<double>()) {
    for (int i = 0; i < 4; ++i) weight_[i] = keys.weight[tangent ? i : 0].data<double>();
  }

  kernels::RectifierSums operator()(std::int64_t pair, std::int64_t a, std::int64_t b) const {
    const std::int64_t t = positions_, block = pair * t * t;
    const double r = correlation_[block + a * t + b];
    kernels::RectifierSums sums{};
    const auto add = [&](std::int64_t from, std::int64_t n) {
      const double* weights[4];
      for (int i = 0; i < 4; ++i) weights[i] = weight_[i] + from;
      kernels::loops().rectifier_sums(alpha2_, beta2_, r, correlation_ + from, weights, tangent_, n,
                                      sums);
    };
    if (!causal_) add(block, t * t);
    for (std::int64_t i = 0; causal_ && i <= a; ++i) add(block + i * t, b + 1);
    return sums;
  }

 private:
  double beta2_, alpha2_;
  bool causal_, tangent_;
  std::int64_t positions_;
  const double* correlation_;
  const double* weight_[4];
};

Sums sums_over_keys(Weighting zeta, bool causal, const KeyFactors& keys, bool tangent) {
  const std::int64_t t = keys.correlation.size(-1);
  const SumOverKeys sum(zeta, causal, keys, tangent);
  Sums y;
  double* out[4] = {};
  for (int i = 0; i < 4; ++i) {
    if (i > 0 && !tangent) break;
    y.of[i] = empty(keys.correlation.shape(), f64);
    out[i] = y.of[i].mutable_data<double>();
  }
  // One row a of queries an item.
  const auto rows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t b = 0; b < t; ++b) {
        const kernels::RectifierSums s = sum(row / t, row % t, b);
        out[0][row * t + b] = s.value[0];
        if (!tangent) continue;
        out[1][row * t + b] = s.value[1];
        out[2][row * t + b] = s.slope[0];
        out[3][row * t + b] = s.slope[1];
      }
  };
  const std::int64_t work = t * t * t;  // of a row
  if (work > 0)
    parallel::for_range(keys.correlation.count() / t, std::max<std::int64_t>(1, 20000 / work),
                        rows);
  return y;
}

}  // namespace

AttentionMoments rectified_moments(const AttentionLimit& layer, const Pairs& seen,
                                   const Pairs& values) {
  check_no_gradient("relu or abs", layer, seen, values);
  const bool tangent = values.ntk.defined();
  const Normalized k = normalize(seen);
  const Sums sums = sums_over_keys(layer.form.weighting, layer.causal,
                                   key_factors(layer, seen, values, k), tangent);
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
