#include "ladon/layers/infinite/attention/limit.h"

#include <cmath>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/attention/pair_products.h"

namespace ladon::infinite {
namespace {

// --- linear scaling ---

/// A = ζ(E[G]), [P, T, T]: E[G] is QK·k(n, n) for tied queries and keys, 0 otherwise.
Tensor mean_weights(const AttentionLimit& layer, const Tensor& queries, const Tensor& keys,
                    const Tensor& mask) {
  const Tensor logits =
      layer.form.tied ? layer.query_key * keys : zeros({queries.size(-1), keys.size(-1)}, f64);
  const Tensor may = visible(mask, queries.size(-1), keys.size(-1), layer.causal);
  if (layer.form.weighting != Weighting::softmax) return apply(layer.form.weighting, logits) * may;
  return softmax(where(greater(may, 0), logits, scalar(-INFINITY, f64)), -1);
}

/// NNGP = S + σ_b²;  NTK = OV²·A_n·u·A_mᵀ + 2·(NNGP − σ_b²) + σ_b²   with S = OV²·A_n·v·A_mᵀ.
PairKernels linear_scaling(const AttentionLimit& layer, const Seen& seen, const Pairs& values) {
  LADON_CHECK(seen.self() || !layer.form.tied, "MultiHeadAttention",
              "no limit is known of cross-attention whose queries and keys share their weights");
  const Pairs& k = seen.keys;
  const Tensor left = mean_weights(layer, seen.queries.left, k.left, k.left_mask);
  const Tensor right = mean_weights(layer, seen.queries.right, k.right, k.right_mask);
  const Tensor ov = square(layer.value_output);
  PairKernels y{sandwich(left, values.nngp, right, {.scale = ov, .offset = layer.bias_variance}),
                {}};
  if (!values.ntk.defined()) return y;
  y.ntk = sandwich(left, values.ntk, right,
                   {.scale = ov,
                    .offset = layer.bias_trained - layer.value_output_trained * layer.bias_variance,
                    .added = y.nngp,
                    .added_scale = layer.value_output_trained});
  return y;
}

// --- sqrt scaling ---

using MomentsOf = AttentionMoments (*)(const AttentionLimit&, const Seen&, const Pairs&);

template <MomentsOf moments>
PairKernels sqrt_scaling(const AttentionLimit& layer, const Seen& seen, const Pairs& values) {
  const AttentionMoments m = moments(layer, seen, values);
  const Tensor ov = square(layer.value_output);
  const Tensor s = ov * m.value;
  PairKernels y{s + layer.bias_variance, {}};
  if (!values.ntk.defined()) return y;
  y.ntk = ov * m.tangent + layer.value_output_trained * s + layer.bias_trained;
  return y;
}

// --- the forms that have a limit ---

using enum Weighting;
constexpr AttentionScaling by_root = AttentionScaling::sqrt, by_width = AttentionScaling::linear;

struct KnownForm {
  AttentionForm form;
  PairKernels (*kernels)(const AttentionLimit&, const Seen&, const Pairs&);
};

/// A form that is not in this list has no limit, whatever is added to AttentionForm later.
constexpr KnownForm known_forms[] = {
    {{by_root, softmax, false}, sqrt_scaling<softmax_moments>},
    {{by_root, identity, false}, sqrt_scaling<identity_moments>},
    {{by_root, relu, false}, sqrt_scaling<rectified_moments>},
    {{by_root, abs, false}, sqrt_scaling<rectified_moments>},
    {{by_width, softmax, false}, linear_scaling},
    {{by_width, identity, false}, linear_scaling},
    {{by_width, relu, false}, linear_scaling},
    {{by_width, abs, false}, linear_scaling},
    {{by_width, softmax, true}, linear_scaling},
    {{by_width, identity, true}, linear_scaling},
    {{by_width, relu, true}, linear_scaling},
    {{by_width, abs, true}, linear_scaling},
};

}  // namespace

PairKernels attention_kernels(const AttentionLimit& layer, const Seen& seen, const Pairs& values) {
  Pairs moved = values;
  if (values.ntk.defined() && layer.value_bias_trained != 0)
    moved.ntk = values.ntk + layer.value_bias_trained;
  if (layer.heads) return sqrt_scaling<head_moments>(layer, seen, moved);
  for (const KnownForm& known : known_forms)
    if (known.form == layer.form) return known.kernels(layer, seen, moved);
  const bool unbounded = layer.form.tied && layer.form.scaling == AttentionScaling::sqrt;
  detail::fail("MultiHeadAttention", "no limit is known of attention with ", to_string(layer.form),
               unbounded ? ": the logits grow as sqrt(head_dim); use linear scaling, or untie them"
                         : "; estimate it: monte_carlo_kernel");
}

bool draws(const AttentionForm& form, std::int64_t keys) {
  return form == AttentionForm{} && keys > 2;
}

}  // namespace ladon::infinite
