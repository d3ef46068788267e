#include "ladon/layers/transformer/transformer.h"

#include "ladon/autograd/graph.h"
#include "ladon/core/error.h"
#include "ladon/layers/hyperparameter.h"
#include "ladon/layers/masked.h"
#include "ladon/layers/transformer/transformer_block.h"

namespace ladon {

using namespace detail;

namespace {

template <class X, class Attend>
X encoded(const TransformerEncoderLayer& l, const X& x, const Tensor& mask, const Attend& attend) {
  const X y = residual("attention", l.placement, *l.attention_norm, l.dropout, x, attend);
  return residual("feedforward", l.placement, *l.feedforward_norm, l.dropout, y,
                  [&](const X& seen) { return fed_forward(l.feedforward, seen, l.dropout, mask); });
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerEncoderLayerOptions& o,
                                                 Generator& rng)
    : attention(MultiHeadAttention(attention_options(o), rng)),
      attention_norm(norm_of(o)),
      feedforward_norm(norm_of(o)),
      feedforward(o, rng),
      dropout(o.dropout, rng),
      placement(o.norm_placement) {}

Tensor TransformerEncoderLayer::forward(const Tensor& x, KeyValueCache& cache,
                                        const Tensor& mask) const {
  const NoGrad no_grad;
  const Undo undo(cache);
  check_cached(feedforward);
  return encoded(*this, blank_masked(x, mask), mask,
                 [&](const Tensor& seen) { return attend(attention, seen, cache, mask); });
}

Tensor TransformerEncoderLayer::forward(const Tensor& x, const AttentionMask& mask) const {
  return encoded(*this, blank_masked(x, mask.key_mask), mask.key_mask,
                 [&](const Tensor& seen) { return attend(attention, seen, mask); });
}

infinite::KernelNode TransformerEncoderLayer::limit(const infinite::KernelNode& k) const {
  return encoded(*this, k, {}, [&](const infinite::KernelNode& seen) { return attention(seen); });
}

AttentionResult TransformerEncoderLayer::forward_with_weights(const Tensor& x,
                                                              const AttentionMask& mask) const {
  AttentionResult result;
  result.output =
      encoded(*this, blank_masked(x, mask.key_mask), mask.key_mask, [&](const Tensor& seen) {
        const auto details = attention->forward_with_weights(seen, seen, seen, mask);
        result.weights = details.weights;
        return details.output;
      });
  return result;
}

void TransformerEncoderLayer::visit(Visitor& v) {
  v("attention", attention);
  v("attention_norm", attention_norm);
  v("feedforward_norm", feedforward_norm);
  feedforward.visit(v);
  v("dropout", dropout);
}

std::string TransformerEncoderLayer::describe() const {
  return describe_layer("TransformerEncoderLayer", placement, feedforward);
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderOptions& options, Generator& rng) {
  check_depth("TransformerEncoder", options.layers);
  for (std::int64_t i = 0; i < options.layers; ++i) layers.emplace_back(options.layer, rng);
  final_norm = final_norm_of(options);
}

Tensor TransformerEncoder::forward(const Tensor& x, const AttentionMask& mask) const {
  return stacked(layers, final_norm, blank_masked(x, mask.key_mask),
                 [&](const auto& layer, const Tensor& y, std::size_t) { return layer(y, mask); });
}

Tensor TransformerEncoder::forward(const Tensor& x, DecodingCache& cache,
                                   const Tensor& mask) const {
  const NoGrad no_grad;
  const Undo undo(cache);
  cache.prepare(layers.size(), projections(layers));
  const Tensor tokens = blank_masked(x, mask);
  return stacked(layers, final_norm, tokens,
                 [&](const auto& layer, const Tensor& y, std::size_t i) {
                   return layer(y, cache.layers[i], mask);
                 });
}

infinite::KernelNode TransformerEncoder::limit(const infinite::KernelNode& k) const {
  return stacked(layers, final_norm, k,
                 [](const auto& layer, const auto& y, std::size_t) { return layer(y); });
}

TransformerEncoder::Details TransformerEncoder::forward_with_weights(
    const Tensor& x, const AttentionMask& mask) const {
  return stack_with_weights(layers, final_norm, x, mask);
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
