#include "ladon/layers/transformer.h"

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/kernel/branches.h"

namespace ladon {

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerEncoderLayerOptions& o,
                                                 Generator& rng)
    : attention({.dim = o.dim,
                 .heads = o.heads,
                 .causal = o.causal,
                 .dropout = o.attention_dropout,
                 .projection_bias = o.projection_bias},
                rng),
      attention_norm({.dim = o.dim}),
      feedforward_norm({.dim = o.dim}),
      expand({.in = o.dim, .out = o.hidden > 0 ? o.hidden : 4 * o.dim}, rng),
      contract({.in = expand.weight.size(0), .out = o.dim}, rng),
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
Kernel residual(const Kernel& k, const char* name, std::function<Kernel(const Kernel&)> branch) {
  return infinite::sum("TransformerEncoderLayer", k,
                       {infinite::identity_branch(), {name, std::move(branch)}});
}

}  // namespace

Kernel TransformerEncoderLayer::feedforward(const Kernel& k) const {
  const Kernel hidden = Activation(activation).limit(expand.limit(k));
  return dropout.limit(contract.limit(dropout.limit(hidden)));
}

Kernel TransformerEncoderLayer::limit(const Kernel& k) const {
  const auto attend = [this](const Kernel& x) { return dropout.limit(attention.limit(x)); };
  const auto expand_contract = [this](const Kernel& x) { return feedforward(x); };
  if (placement == NormPlacement::post) {
    const Kernel y = attention_norm.limit(residual(k, "attention", attend));
    return feedforward_norm.limit(residual(y, "feedforward", expand_contract));
  }
  const Kernel y =
      residual(k, "attention", [&](const Kernel& x) { return attend(attention_norm.limit(x)); });
  return residual(y, "feedforward",
                  [&](const Kernel& x) { return feedforward(feedforward_norm.limit(x)); });
}

Kernel TransformerEncoder::limit(const Kernel& k) const {
  Kernel y = k;
  for (const TransformerEncoderLayer& layer : layers) y = layer.limit(y);
  return final_norm ? final_norm->limit(y) : y;
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
