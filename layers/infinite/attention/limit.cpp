#include "ladon/layers/infinite/attention/limit.h"

#include <cmath>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/attention/outputs.h"
#include "ladon/layers/infinite/attention/pair_products.h"

namespace ladon::infinite {
namespace {

/// Kernels of the values. Their tangent kernel includes the constant that trained biases of the
/// values add (AttentionLimit::value_bias_trained).
Pairs with_bias(const AttentionLimit& layer, const Pairs& values) {
  Pairs moved = values;
  if (values.ntk.defined() && layer.value_bias_trained != 0)
    moved.ntk = values.ntk + layer.value_bias_trained;
  return moved;
}

// --- linear scaling ---

PairKernels by_weights(const AttentionLimit& layer, const Tensor& left, const Tensor& right,
                       const Pairs& values) {
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

/// With linear scaling, logits equal their means: QK·k(n, n) for tied queries and keys, 0
/// otherwise.
PairKernels linear_scaling(const AttentionLimit& layer, const Seen& seen, const Pairs& values) {
  LADON_CHECK(seen.self() || !layer.form.tied, "MultiHeadAttention",
              "no limit is known for cross-attention with tied queries and keys; untie them");
  const auto weights = [&](const Tensor& queries, const Tensor& keys, const Tensor& mask) {
    const Tensor logits =
        layer.form.tied ? layer.query_key * keys : zeros({queries.size(-1), keys.size(-1)}, f64);
    return weights_of(layer, logits, mask);
  };
  const Pairs& k = seen.keys;
  return by_weights(layer, weights(seen.queries.left, k.left, k.left_mask),
                    weights(seen.queries.right, k.right, k.right_mask), values);
}

// --- sqrt scaling ---

using MomentsOf = AttentionMoments (*)(const AttentionLimit&, const Seen&, const Pairs&);

template <MomentsOf moments>
PairKernels sqrt_scaling(const AttentionLimit& layer, const Seen& seen, const Pairs& values) {
  return attention_outputs(layer, moments(layer, seen, values));
}

// --- the forms that have a limit ---

using enum Weighting;
constexpr AttentionScaling by_root = AttentionScaling::sqrt, by_width = AttentionScaling::linear;

struct KnownForm {
  AttentionForm form;
  PairKernels (*kernels)(const AttentionLimit&, const Seen&, const Pairs&);
};

/// Forms with a known limit. All other forms have none, including any that are added to
/// AttentionForm later.
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

namespace {

/// The entry of known_forms for the layer's form. Throws Error if there is none.
const KnownForm& known_form(const AttentionLimit& layer) {
  LADON_CHECK(layer.window == 0 || layer.form.weighting == Weighting::softmax ||
                  layer.form.scaling == AttentionScaling::linear,
              "MultiHeadAttention",
              "no limit is known for attention in a window unless the weights are softmax or the "
              "scaling is linear; got ",
              to_string(layer.form), ", and window = ", layer.window);
  for (const KnownForm& known : known_forms)
    if (known.form == layer.form) return known;
  const bool unbounded = layer.form.tied && layer.form.scaling == AttentionScaling::sqrt;
  detail::fail("MultiHeadAttention", "no limit is known for attention with ", to_string(layer.form),
               unbounded ? ": the logits grow as sqrt(head_dim); use linear scaling, or untie "
                           "queries and keys"
                         : "; estimate it by monte_carlo_kernel");
}

}  // namespace

PairKernels attention_kernels(const AttentionLimit& layer, const Seen& seen, const Pairs& values) {
  const Pairs moved = with_bias(layer, values);
  if (layer.heads) return sqrt_scaling<head_moments>(layer, seen, moved);
  return known_form(layer).kernels(layer, seen, moved);
}

AttentionMap attention_map(const AttentionLimit& layer) {
  known_form(layer);
  return [](const AttentionLimit& now, const Pairs& seen, const Pairs& values) {
    return attention_kernels(now, seen, values);
  };
}

PairKernels given_weights(const AttentionLimit& layer, const Tensor& left, const Tensor& right,
                          const Pairs& values) {
  return by_weights(layer, left, right, with_bias(layer, values));
}

Tensor visible(const AttentionLimit& layer, const Tensor& mask, std::int64_t queries,
               std::int64_t keys) {
  Tensor may = ones({queries, keys}, f64);
  if (layer.causal) may = tril(may);
  if (layer.window > 0) may = may - tril(may, -layer.window);
  return mask.defined() ? may * cast(unsqueeze(mask, -2), f64) : may;
}

Tensor weights_of(const AttentionLimit& layer, const Tensor& logits, const Tensor& mask) {
  if (!mask.defined() && !layer.causal) return attention_weights(layer.form.weighting, logits);
  const Tensor may = visible(layer, mask, logits.size(-2), logits.size(-1));
  if (layer.form.weighting != Weighting::softmax)
    return may * attention_weights(layer.form.weighting, logits);
  return attention_weights(Weighting::softmax,
                           where(greater(may, 0), logits, scalar(-INFINITY, f64)));
}

bool draws(const AttentionForm& form, std::int64_t keys) {
  return form == AttentionForm{} && (keys < 0 || keys > 2);
}

}  // namespace ladon::infinite
