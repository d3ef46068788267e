#include "ladon/layers/transformer.h"

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/infinite/kernel/branches.h"

namespace ladon {
namespace {

LinearOptions linear_options(const TransformerEncoderLayerOptions& o, std::int64_t in,
                             std::int64_t out) {
  LinearOptions options{.in = in, .out = out, .parameterization = o.prior.parameterization};
  if (options.parameterization == Parameterization::ntk) {
    options.weight_std = o.weight_std;
    options.bias_std = o.bias_std;
  }
  return options;
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerEncoderLayerOptions& o,
                                                 Generator& rng)
    : attention({.dim = o.dim,
                 .heads = o.heads,
                 .causal = o.causal,
                 .dropout = o.attention_dropout,
                 .form = o.form,
                 .projection_bias = o.projection_bias,
                 .positions = o.positions,
                 .prior = o.prior,
                 .limit_draws = o.limit_draws},
                rng),
      attention_norm({.dim = o.dim}),
      feedforward_norm({.dim = o.dim}),
      expand(linear_options(o, o.dim, o.hidden > 0 ? o.hidden : 4 * o.dim), rng),
      contract(linear_options(o, expand.weight.size(0), o.dim), rng),
      dropout(o.dropout, rng),
      placement(o.norm),
      activation(o.activation) {}

Tensor TransformerEncoderLayer::feedforward(const Tensor& x) const {
  return dropout(contract(dropout(apply(activation, expand(x)))));
}

Tensor TransformerEncoderLayer::around(const Tensor& x,
                                       const std::function<Tensor(const Tensor&)>& attend) const {
  if (placement == NormPlacement::pre) {
    const Tensor y = x + dropout(attend(attention_norm(x)));
    return y + feedforward(feedforward_norm(y));
  }
  const Tensor y = attention_norm(x + dropout(attend(x)));
  return feedforward_norm(y + feedforward(y));
}

Tensor TransformerEncoderLayer::forward(const Tensor& x, const AttentionMask& mask) const {
  return around(x, [&](const Tensor& seen) { return attention(seen, mask); });
}

AttentionResult TransformerEncoderLayer::forward_with_weights(const Tensor& x,
                                                              const AttentionMask& mask) const {
  AttentionResult result;
  result.output = around(x, [&](const Tensor& seen) {
    const auto details = attention.forward_with_weights(seen, seen, seen, mask);
    result.weights = details.weights;
    return details.output;
  });
  return result;
}

// --- the limit ---

namespace {

using infinite::Kernel;

/// The kernel of x + branch(x).
Kernel residual(const Kernel& k, const char* name, const std::vector<const Layer*>& branch) {
  const auto inside = [&](const Kernel& x) { return limit_in_turn(branch, x); };
  return infinite::sum("TransformerEncoderLayer", k, {infinite::identity_branch(), {name, inside}});
}

}  // namespace

Kernel TransformerEncoderLayer::limit(const Kernel& k) const {
  const Activation nonlinearity(activation);
  std::vector<const Layer*> attend = {&attention, &dropout};
  std::vector<const Layer*> feedforward = {&expand, &nonlinearity, &dropout, &contract, &dropout};
  if (placement == NormPlacement::post) {
    const Kernel y = attention_norm(residual(k, "attention", attend));
    return feedforward_norm(residual(y, "feedforward", feedforward));
  }
  attend.insert(attend.begin(), &attention_norm);
  feedforward.insert(feedforward.begin(), &feedforward_norm);
  return residual(residual(k, "attention", attend), "feedforward", feedforward);
}

Kernel TransformerEncoder::limit(const Kernel& k) const {
  std::vector<const Layer*> all;
  for (const TransformerEncoderLayer& layer : layers) all.push_back(&layer);
  if (final_norm) all.push_back(&*final_norm);
  return limit_in_turn(all, k);
}

void TransformerEncoderLayer::visit(Visitor& v) {
  v("attention", attention);
  v("attention_norm", attention_norm);
  v("feedforward_norm", feedforward_norm);
  v("expand", expand);
  v("contract", contract);
  v("dropout", dropout);
}

std::string TransformerEncoderLayer::describe() const {
  return detail::join("TransformerEncoderLayer(", placement == NormPlacement::pre ? "pre" : "post",
                      "-norm, ", to_string(activation), ", hidden ", expand.weight.size(0), ")");
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderOptions& options, Generator& rng) {
  LADON_CHECK(options.layers > 0, "TransformerEncoder", "layers must be positive, got ",
              options.layers);
  for (std::int64_t i = 0; i < options.layers; ++i) layers.emplace_back(options.layer, rng);
  if (options.layer.norm == NormPlacement::pre)
    final_norm.emplace(LayerNormOptions{.dim = options.layer.dim});
}

Tensor TransformerEncoder::forward(const Tensor& x, const AttentionMask& mask) const {
  Tensor y = x;
  for (const TransformerEncoderLayer& layer : layers) y = layer(y, mask);
  return final_norm ? (*final_norm)(y) : y;
}

TransformerEncoder::Details TransformerEncoder::forward_with_weights(
    const Tensor& x, const AttentionMask& mask) const {
  Details details{x, {}};
  for (const TransformerEncoderLayer& layer : layers) {
    const AttentionResult result = layer.forward_with_weights(details.output, mask);
    details.output = result.output;
    details.weights.push_back(result.weights);
  }
  if (final_norm) details.output = (*final_norm)(details.output);
  return details;
}

void TransformerEncoder::visit(Visitor& v) {
  v("layers", layers);
  v("final_norm", final_norm);
}

std::string TransformerEncoder::describe() const {
  return detail::join("TransformerEncoder(", layers.size(),
                      layers.size() == 1 ? " layer)" : " layers)");
}

}  // namespace ladon
