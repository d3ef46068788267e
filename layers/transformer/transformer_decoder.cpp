#include "ladon/autograd/graph.h"
#include "ladon/core/error.h"
#include "ladon/layers/hyperparameter.h"
#include "ladon/layers/masked.h"
#include "ladon/layers/transformer/transformer_block.h"

namespace ladon {

using namespace detail;

namespace {

using Options = TransformerDecoderLayerOptions;

Options causal_of(Options o) {
  o.attention.causal = true;
  return o;
}

/// Options of attention to a memory, which has no causal mask, window, hook or positions.
Options cross_of(Options o) {
  o.attention.causal = false;
  o.attention.window = 0;
  o.attention.hook = {};
  o.attention.positions = {};
  return o;
}

}  // namespace

TransformerDecoderLayer::TransformerDecoderLayer(const Options& o, Generator& rng)
    : attention(MultiHeadAttention(attention_options(causal_of(o)), rng)),
      cross_attention(attention_options(cross_of(o)), rng),
      attention_norm(norm_of(o)),
      cross_attention_norm(norm_of(o)),
      feedforward_norm(norm_of(o)),
      feedforward(o, rng),
      dropout(o.dropout, rng),
      placement(o.norm_placement) {}

Tensor TransformerDecoderLayer::around(const Tensor& x, const Tensor& mask, const Attend& attend,
                                       const Attend& look) const {
  const Tensor tokens = blank_masked(x, mask);
  const Tensor y = residual("attention", placement, *attention_norm, dropout, tokens, attend);
  const Tensor z = residual("cross_attention", placement, *cross_attention_norm, dropout, y, look);
  return residual("feedforward", placement, *feedforward_norm, dropout, z,
                  [&](const Tensor& seen) { return feedforward(seen, dropout, mask); });
}

Tensor TransformerDecoderLayer::forward(const Tensor&) const {
  detail::fail("TransformerDecoderLayer",
               "attends to a memory, which is missing; call it as layer(x, memory, mask)");
}

Tensor TransformerDecoderLayer::forward(const Tensor& x, const Tensor& memory,
                                        const AttentionMask& mask,
                                        const AttentionMask& memory_mask) const {
  const Tensor seen_memory = blank_masked(memory, memory_mask.key_mask);
  return around(
      x, mask.key_mask, [&](const Tensor& seen) { return attend(attention, seen, mask); },
      [&](const Tensor& seen) {
        return cross_attention(seen, seen_memory, seen_memory, memory_mask);
      });
}

AttentionResult TransformerDecoderLayer::forward_with_weights(
    const Tensor& x, const Tensor& memory, const AttentionMask& mask,
    const AttentionMask& memory_mask) const {
  AttentionResult result;
  const Attend look = [&](const Tensor& seen) {
    const auto details = cross_attention.forward_with_weights(seen, memory, memory, memory_mask);
    result.weights = details.weights;
    return details.output;
  };
  result.output = around(
      x, mask.key_mask, [&](const Tensor& seen) { return attend(attention, seen, mask); }, look);
  return result;
}

Tensor TransformerDecoderLayer::forward(const Tensor& x, const ProjectedMemory& memory,
                                        KeyValueCache& cache, const Tensor& mask,
                                        const AttentionMask& memory_mask) const {
  const NoGrad no_grad;
  const Undo undo(cache);
  check_cached(feedforward);
  return around(
      x, mask, [&](const Tensor& seen) { return attend(attention, seen, cache, mask); },
      [&](const Tensor& seen) { return cross_attention(seen, memory, memory_mask); });
}

void TransformerDecoderLayer::visit(Visitor& v) {
  v("attention", attention);
  v("cross_attention", cross_attention);
  v("attention_norm", attention_norm);
  v("cross_attention_norm", cross_attention_norm);
  v("feedforward_norm", feedforward_norm);
  feedforward.visit(v);
  v("dropout", dropout);
}

std::string TransformerDecoderLayer::describe() const {
  return describe_layer("TransformerDecoderLayer", placement, feedforward);
}

TransformerDecoder::TransformerDecoder(const TransformerEncoderOptions& options, Generator& rng)
    : final_norm(final_norm_of(options)) {
  check_depth("TransformerDecoder", options.layers);
  for (std::int64_t i = 0; i < options.layers; ++i) layers.emplace_back(options.layer, rng);
}

Tensor TransformerDecoder::forward(const Tensor&) const {
  detail::fail("TransformerDecoder",
               "attends to a memory, which is missing; call it as decoder(x, memory, mask)");
}

Tensor TransformerDecoder::forward(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                                   const AttentionMask& memory_mask) const {
  const Tensor seen_memory = blank_masked(memory, memory_mask.key_mask);
  return stacked(layers, final_norm, blank_masked(x, mask.key_mask),
                 [&](const auto& layer, const Tensor& y, std::size_t) {
                   return layer(y, seen_memory, mask, memory_mask);
                 });
}

TransformerDecoder::Details TransformerDecoder::forward_with_weights(
    const Tensor& x, const Tensor& memory, const AttentionMask& mask,
    const AttentionMask& memory_mask) const {
  return stack_with_weights(layers, final_norm, x, memory, mask, memory_mask);
}

DecodingCache TransformerDecoder::remember(const Tensor& memory, const Tensor& mask) const {
  const NoGrad no_grad;
  DecodingCache cache;
  cache.memory_mask = mask;
  cache.prepare(layers.size(), projections(layers));
  for (const TransformerDecoderLayer& layer : layers)
    cache.memory.push_back(layer.cross_attention.project_memory(memory, memory, mask));
  return cache;
}

Tensor TransformerDecoder::forward(const Tensor& x, DecodingCache& cache,
                                   const Tensor& mask) const {
  const NoGrad no_grad;
  LADON_CHECK(cache.memory.size() == layers.size(), "TransformerDecoder",
              "the cache holds the memory of ", cache.memory.size(),
              " layers, but the decoder has ", layers.size(),
              "; make the cache with remember(memory)");
  const Undo undo(cache);
  cache.prepare(layers.size(), projections(layers));
  const AttentionMask memory_mask{.key_mask = cache.memory_mask};
  const Tensor tokens = blank_masked(x, mask);
  return stacked(layers, final_norm, tokens,
                 [&](const auto& layer, const Tensor& y, std::size_t i) {
                   return layer(y, cache.memory[i], cache.layers[i], mask, memory_mask);
                 });
}

void TransformerDecoder::visit(Visitor& v) {
  v("layers", layers);
  v("final_norm", final_norm);
}

std::string TransformerDecoder::describe() const {
  return detail::join("TransformerDecoder(", layers.size(),
                      layers.size() == 1 ? " layer)" : " layers)");
}

// --- both ---

Transformer::Transformer(const TransformerOptions& o, Generator& rng)
    : encoder(
          [&] {
            TransformerEncoderOptions sees_all{o.layer, o.encoder_layers, o.final_norm};
            sees_all.layer.attention.causal = false;
            sees_all.layer.attention.window = 0;
            return sees_all;
          }(),
          rng),
      decoder(
          [&] {
            TransformerEncoderOptions own{o.layer, o.decoder_layers, o.final_norm};
            if (own.layer.attention.hook)
              detail::separate(*own.layer.attention.hook, 1);  // separate from the encoder's hook
            return own;
          }(),
          rng) {}

Tensor Transformer::forward(const Tensor&) const {
  detail::fail("Transformer", "needs targets; call it as model(sources, targets, source_mask)");
}

Tensor Transformer::forward(const Tensor& sources, const Tensor& targets,
                            const Tensor& source_mask) const {
  const AttentionMask mask{.key_mask = source_mask};
  return decoder(targets, encoder(blank_masked(sources, source_mask), mask), AttentionMask{}, mask);
}

void Transformer::visit(Visitor& v) {
  v("encoder", encoder);
  v("decoder", decoder);
}

std::string Transformer::describe() const { return "Transformer"; }

}  // namespace ladon
