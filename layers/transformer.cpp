#include "ladon/layers/transformer.h"

#include "ladon/core/error.h"

namespace ladon {

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerEncoderLayerOptions& o,
                                                 Generator& rng)
    : attention(
          {.dim = o.dim, .heads = o.heads, .causal = o.causal, .dropout = o.attention_dropout},
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

Tensor TransformerEncoderLayer::forward(const Tensor& x, const AttentionMasks& masks) const {
  return around(x, [&](const Tensor& seen) { return attention.forward(seen, masks); });
}

AttentionResult TransformerEncoderLayer::forward_with_weights(const Tensor& x,
                                                              const AttentionMasks& masks) const {
  AttentionResult result;
  result.output = around(x, [&](const Tensor& seen) {
    const auto details = attention.forward_with_weights(seen, seen, seen, masks);
    result.weights = details.weights;
    return details.output;
  });
  return result;
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
  return concat("TransformerEncoderLayer(", placement == NormPlacement::pre ? "pre" : "post",
                "-norm, ", name(activation), ", hidden ", expand.weight.size(0), ")");
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderOptions& options, Generator& rng) {
  check(options.layers > 0, "TransformerEncoder", "layers must be positive, got ", options.layers);
  for (std::int64_t i = 0; i < options.layers; ++i) layers.emplace_back(options.layer, rng);
  if (options.layer.norm == NormPlacement::pre)
    final_norm.emplace(LayerNormOptions{.dim = options.layer.dim});
}

Tensor TransformerEncoder::forward(const Tensor& x, const AttentionMasks& masks) const {
  Tensor y = x;
  for (const TransformerEncoderLayer& layer : layers) y = layer.forward(y, masks);
  return final_norm ? (*final_norm)(y) : y;
}

TransformerEncoder::Details TransformerEncoder::forward_with_weights(
    const Tensor& x, const AttentionMasks& masks) const {
  Details details{x, {}};
  for (const TransformerEncoderLayer& layer : layers) {
    const AttentionResult result = layer.forward_with_weights(details.output, masks);
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
  return concat("TransformerEncoder(", layers.size(), layers.size() == 1 ? " layer)" : " layers)");
}

}  // namespace ladon
