#include "ladon/layers/infinite/attention/limit.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/attention/pair_products.h"

namespace ladon::infinite {
namespace {

// --- linear scaling ---

/// A = ζ(E[G]), [P, T, T]: E[G] is QK·k(n, n) for tied queries and keys, 0 otherwise.
Tensor mean_weights(const AttentionLimit& layer, const Tensor& self, const Tensor& mask) {
  const Tensor logits =
      layer.tied ? layer.query_key * self : zeros({self.size(-1), self.size(-1)}, f64);
  const Tensor may = visible(mask, self.size(-1), layer.causal);
  if (layer.zeta != Zeta::softmax) return apply(layer.zeta, logits) * may;
  return softmax(where(greater(may, 0), logits, scalar(-INFINITY, f64)), -1);
}

/// NNGP = S + σ_b²;  NTK = OV²·A_n·u·A_mᵀ + 2·(NNGP − σ_b²) + σ_b²   with S = OV²·A_n·v·A_mᵀ.
PairKernels linear_scaling(const AttentionLimit& layer, const Pairs& seen, const Pairs& values) {
  const Tensor left = mean_weights(layer, seen.left, seen.left_mask);
  const Tensor right = mean_weights(layer, seen.right, seen.right_mask);
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

AttentionMoments moments(const AttentionLimit& layer, const Pairs& seen, const Pairs& values) {
  switch (layer.zeta) {
    case Zeta::identity:
      return identity_moments(layer, seen, values);
    case Zeta::relu:
    case Zeta::abs:
      return rectified_moments(layer, seen, values);
    case Zeta::softmax:
      break;
  }
  return softmax_moments(layer, seen, values);
}

PairKernels sqrt_scaling(const AttentionLimit& layer, const Pairs& seen, const Pairs& values) {
  const AttentionMoments m = moments(layer, seen, values);
  const Tensor ov = square(layer.value_output);
  const Tensor s = ov * m.value;
  PairKernels y{s + layer.bias_variance, {}};
  if (!values.ntk.defined()) return y;
  y.ntk = ov * m.tangent + layer.value_output_trained * s + layer.bias_trained;
  return y;
}

}  // namespace

PairKernels attention_kernels(const AttentionLimit& layer, const Pairs& seen, const Pairs& values) {
  return layer.scaling == AttentionScaling::linear ? linear_scaling(layer, seen, values)
                                                   : sqrt_scaling(layer, seen, values);
}

void check_no_gradient(const char* form, const AttentionLimit& layer, const Pairs& seen,
                       const Pairs& values) {
  bool wanted = layer.query_key.requires_grad();
  for (const Pairs* pairs : {&seen, &values})
    for (const Tensor* k : {&pairs->nngp, &pairs->ntk, &pairs->left, &pairs->right})
      wanted = wanted || k->requires_grad();
  LADON_CHECK(
      !wanted || !grad_enabled(), "MultiHeadAttention",
      "the limit of sqrt scaling has no gradient by query_key_std or by the kernels it is given "
      "with ",
      form, "; use identity, or linear scaling");
}

bool is_sampled(const AttentionLimit& layer, std::int64_t positions) {
  return layer.scaling == AttentionScaling::sqrt && layer.zeta == Zeta::softmax && positions > 2;
}

}  // namespace ladon::infinite

// --- the layer's side ---

namespace ladon {
namespace {

constexpr const char* where_from = "MultiHeadAttention";

void check_has_limit(const MultiHeadAttention& layer) {
  LADON_CHECK(!layer.tied || layer.scaling == AttentionScaling::linear, where_from,
              "tied queries and keys have no limit with sqrt scaling: the logits grow as "
              "sqrt(head_dim); use linear scaling, or untie them");
  LADON_CHECK(
      !layer.query_bias.defined() && !layer.value_bias.defined(), where_from,
      "has no limit in closed form with biases of queries, keys and values; set projection_bias "
      "= false (the output keeps its bias)");
  LADON_CHECK(layer.dropout == 0 || !layer.training(), where_from,
              "has no limit with dropout of the attention weights; call eval()");
  const std::int64_t seen = layer.query.size(2);
  const std::int64_t tokens = layer.positions ? layer.positions->in : seen;
  LADON_CHECK((layer.tied || layer.key.size(2) == seen) &&
                  layer.value.size(2) == (layer.values_see_positions ? seen : tokens),
              where_from,
              "the limit is of self-attention: queries, keys and values see one input; the ",
              "weights are ", layer.query.shape(), ", ",
              (layer.tied ? layer.query : layer.key).shape(), " and ", layer.value.shape());
}

infinite::AttentionLimit limit_of(const MultiHeadAttention& a) {
  infinite::AttentionLimit y{.scaling = a.scaling,
                             .zeta = a.zeta,
                             .tied = a.tied,
                             .causal = a.causal,
                             .query_key = {},
                             .value_output = {},
                             .bias_variance = scalar(0, f64),
                             .query_key_trained = 2,
                             .value_output_trained = 2,
                             .bias_trained = scalar(0, f64),
                             .samples = a.limit_samples,
                             .seed = a.limit_seed};
  if (a.parameterization() == Parameterization::ntk) {
    y.query_key = a.query_key_std;
    y.value_output = a.value_output_std;
    if (a.output_bias.defined()) y.bias_variance = y.bias_trained = square(a.bias_std);
    return y;
  }
  LADON_CHECK(a.init != Init::ones, where_from, "weights that are all one have no Gaussian limit");
  const auto variance = [&](const Tensor& weight) {
    const double std = init_stddev(a.init, {weight.size(0) * weight.size(1), weight.size(2)});
    return std * std;
  };
  const Tensor& key = a.tied ? a.query : a.key;
  const double q = variance(a.query), k = variance(key), v = variance(a.value),
               o = variance(a.output);
  // In ntk form σ² of a group is its fan_in times its variance.
  const auto deviation = [](double var1, std::int64_t fan1, double var2, std::int64_t fan2) {
    return scalar(std::sqrt(var1 * static_cast<double>(fan1) * var2 * static_cast<double>(fan2)),
                  f64);
  };
  y.query_key = deviation(q, a.query.size(2), k, key.size(2));
  y.value_output = deviation(v, a.value.size(2), o, a.heads() * a.value_head_dim());
  y.query_key_trained = q > 0 && k > 0 ? 1 / q + 1 / k : 0;
  y.value_output_trained = v > 0 && o > 0 ? 1 / v + 1 / o : 0;
  if (a.output_bias.defined()) y.bias_trained = scalar(1, f64);
  return y;
}

}  // namespace

infinite::Kernel MultiHeadAttention::limit(const infinite::Kernel& k) const {
  k.need_positions(where_from);
  check_has_limit(*this);
  const infinite::AttentionLimit layer = limit_of(*this);
  const infinite::Law makes = infinite::Law::random_linear();
  infinite::Kernel result = infinite::map_pairs(k, makes, [&](const infinite::Pairs& tokens) {
    const infinite::Pairs seen = positions ? positions->limit(tokens) : tokens;
    return infinite::attention_kernels(layer, seen, values_see_positions ? seen : tokens);
  });
  result.draws.used = k.draws.used || infinite::is_sampled(layer, k.position_count());
  return result;
}

}  // namespace ladon
