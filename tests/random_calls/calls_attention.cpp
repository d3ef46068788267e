// Random calls of attention and its variants, of caches and of text generation: with random
// options, on random inputs.

#include "ladon/layers/layers.h"
#include "ladon/optim/extra/extra.h"
#include "layer_runs.h"
#include "table.h"

namespace ladon::test {
namespace {

Owned<AttentionHook> hook(Draw& d, std::int64_t heads) {
  Generator rng(d.seed());
  switch (d.say(d.below(3))) {
    case 0:
      return RotaryPositions({.dim = d.around(0, 4), .base = d.number(), .interleaved = d.flag()});
    case 1:
      return AlibiBias(d.chance(0.8) ? heads : d.below(4));
    default:
      return RelativeBias({.heads = d.chance(0.8) ? heads : d.below(4),
                           .buckets = 4 * d.below(4),
                           .max_distance = d.around(0, 20),
                           .bidirectional = d.flag()},
                          rng);
  }
}

MultiHeadAttentionOptions attention_options(Draw& d) {
  MultiHeadAttentionOptions options{.dim = d.around(1, 4), .heads = d.around(1, 3)};
  if (d.chance(0.6)) options.head_dim = d.around(0, 3);
  if (d.chance(0.2)) options.key_dim = d.around(0, 3);
  if (d.chance(0.2)) options.value_dim = d.around(0, 3);
  if (d.chance(0.2)) options.value_head_dim = d.around(0, 3);
  if (d.chance(0.2)) options.out = d.around(0, 3);
  options.bias = d.flag();
  options.causal = d.flag();
  if (d.chance(0.2)) options.dropout = d.fraction();
  options.form.scaling = d.flag() ? AttentionScaling::sqrt : AttentionScaling::linear;
  options.form.weighting =
      d.chance(0.6) ? Weighting::softmax : static_cast<Weighting>(d.say(d.below(4)));
  options.form.tied = d.chance(0.2);
  options.projection_bias = d.flag();
  if (d.chance(0.3)) options.kv_heads = d.around(0, 3);
  if (d.chance(0.2)) options.window = d.around(0, 3);
  if (d.chance(0.3)) options.hook = hook(d, options.heads);
  options.prior.parameterization = parameterization(d);
  if (d.chance(0.9) == (options.prior.parameterization == Parameterization::standard))
    options.prior.init = init(d);
  if (d.chance(0.2)) options.positions = AttentionPositions{.encoding = {.grid = {d.around(1, 5)}}};
  return options;
}

}  // namespace

void add_attention_calls(CallTable& table) {
  table.add("MultiHeadAttention", [](Draw& d) {
    Generator rng(d.seed());
    const MultiHeadAttentionOptions options = attention_options(d);
    MultiHeadAttention layer(options, rng);
    return run_on_tokens(d, layer, options.dim);
  });
  table.add("MultiHeadAttention::forward", [](Draw& d) {
    Generator rng(d.seed());
    const MultiHeadAttentionOptions options = attention_options(d);
    MultiHeadAttention layer(options, rng);
    const std::int64_t n = d.below(3), tq = d.below(4), tk = d.below(4);
    const std::int64_t key_dim = options.key_dim > 0 ? options.key_dim : options.dim;
    const Tensor q = d.near({n, tq, options.dim}), k = d.near({n, tk, key_dim});
    const Tensor v = d.near({n, tk, options.value_dim > 0 ? options.value_dim : key_dim});
    AttentionMask mask;
    if (d.chance(0.4))
      mask = d.flag() ? allowed(d.mask({tq, tk})) : mask + d.near({n, options.heads, tq, tk});
    if (d.chance(0.4)) mask = mask & padding(d.mask({n, tk}));
    if (d.chance(0.2)) mask = mask & causal();
    const auto details = layer.forward_with_weights(q, k, v, mask);
    return Tensors{details.output, details.weights, details.contexts, layer(q, k, v, mask)};
  });
  table.add(
      "TransformerEncoder",
      [](Draw& d) {
        Generator rng(d.seed());
        TransformerEncoderLayerOptions options{.dim = d.around(1, 4), .heads = d.around(1, 2)};
        if (d.chance(0.5)) options.hidden = d.around(0, 5);
        options.dropout = d.fraction();
        if (d.chance(0.2)) options.attention.dropout = d.fraction();
        if (d.chance(0.1)) options.attention.dim = d.around(0, 4);
        options.norm_placement = d.flag() ? NormPlacement::pre : NormPlacement::post;
        options.attention.causal = d.flag();
        options.normalization = d.flag() ? Normalization::layer : Normalization::rms;
        options.gated = d.flag();
        options.bias = d.flag();
        if (d.chance(0.3)) options.attention.hook = hook(d, options.heads);
        TransformerEncoder layer({.layer = options, .layers = d.below(3)}, rng);
        return run_on_tokens(d, layer, options.dim);
      },
      0.5);
  table.add(
      "TransformerEncoderLayer",
      [](Draw& d) {
        Generator rng(d.seed());
        TransformerEncoderLayerOptions options{.dim = d.around(1, 4), .heads = d.around(1, 2)};
        options.dropout = d.fraction();
        options.gated = d.flag();
        if (d.chance(0.3)) options.attention.hook = hook(d, options.heads);
        TransformerEncoderLayer layer(options, rng);
        return run_on_tokens(d, layer, options.dim);
      },
      0.5);
  table.add(
      "TransformerDecoderLayer",
      [](Draw& d) {
        Generator rng(d.seed());
        TransformerEncoderLayerOptions options{.dim = 4, .heads = d.around(1, 2), .dropout = 0};
        options.norm_placement = d.flag() ? NormPlacement::pre : NormPlacement::post;
        const TransformerDecoderLayer layer(options, rng);
        const std::int64_t n = d.below(3), t = d.below(4), s = d.below(4);
        const Tensor x = d.near({n, t, 4}), memory = d.near({n, s, 4});
        const AttentionMask mask = d.flag() ? padding(d.mask({n, t})) : AttentionMask{},
                            seen = d.flag() ? padding(d.mask({n, s})) : AttentionMask{};
        const AttentionResult y = layer.forward_with_weights(x, memory, mask, seen);
        return Tensors{layer(x, memory, mask, seen), y.output, y.weights};
      },
      0.5);
  table.add(
      "Transformer",
      [](Draw& d) {
        Generator rng(d.seed());
        const TransformerOptions options{.layer = {.dim = 4, .heads = d.around(1, 2), .dropout = 0},
                                         .encoder_layers = d.below(3),
                                         .decoder_layers = d.below(3)};
        const Transformer model(options, rng);
        const std::int64_t n = d.below(3), t = d.below(4), s = d.below(4);
        const Tensor sources = d.near({n, s, 4}), targets = d.near({n, t, 4});
        return model(sources, targets, d.flag() ? d.mask({n, s}) : Tensor());
      },
      0.5);
  table.add(
      "LanguageModel",
      [](Draw& d) {
        Generator rng(d.seed());
        const std::int64_t vocabulary = d.around(1, 6), layers = d.below(3);
        const LanguageModelOptions options =
            d.flag() ? gpt2(vocabulary, layers, 4, d.around(1, 2), d.around(1, 6))
                     : llama(vocabulary, layers, 4, 2, d.around(1, 2), d.around(1, 5));
        LanguageModel model(options, rng);
        model.eval();  // a cache and dropout do not go together
        const std::int64_t n = d.below(3), t = d.below(4);
        const Tensor tokens = d.indices({n, t}, vocabulary), mask = d.mask({n, t});
        DecodingCache cache;
        return Tensors{d.flag() ? model(tokens) : model(tokens, mask),
                       model(tokens, cache, d.flag() ? mask : Tensor())};
      },
      0.5);
  table.add(
      "TransformerDecoder",
      [](Draw& d) {
        Generator rng(d.seed());
        TransformerEncoderLayerOptions options{.dim = 4, .heads = d.around(1, 2), .dropout = 0};
        options.norm_placement = d.flag() ? NormPlacement::pre : NormPlacement::post;
        options.attention.kv_heads = d.below(3);
        TransformerDecoder layer({.layer = options, .layers = d.below(3)}, rng);
        const std::int64_t n = d.below(3), t = d.below(4), s = d.below(4);
        const Tensor x = d.near({n, t, 4}), memory = d.near({n, s, 4});
        const AttentionMask seen = d.flag() ? padding(d.mask({n, s})) : AttentionMask{};
        DecodingCache cache = layer.remember(memory, seen.key_mask);
        const Tensor first = layer(x, cache, d.flag() ? d.mask({n, t}) : Tensor());
        cache.select(d.indices({d.below(3)}, n));
        return Tensors{layer(x, memory, AttentionMask{}, seen), first,
                       layer(d.near({n, d.below(3), 4}), cache),
                       layer.forward_with_weights(x, memory, {}, seen).weights.back()};
      },
      0.5);
  table.add(
      "TranslationModel",
      [](Draw& d) {
        Generator rng(d.seed());
        const TranslationModelOptions options{
            .vocabulary = d.around(1, 6),
            .body = {.layer = {.dim = 4, .heads = d.around(1, 2), .dropout = 0},
                     .encoder_layers = d.below(3),
                     .decoder_layers = d.below(3)}};
        const TranslationModel model(options, rng);
        const std::int64_t n = d.below(3), t = d.below(4), s = d.below(4);
        const Tensor sources = d.indices({n, s}, options.vocabulary);
        const Tensor targets = d.indices({n, t}, options.vocabulary);
        const Tensor mask = d.flag() ? d.mask({n, s}) : Tensor();
        DecodingCache cache = model.remember(sources, mask);
        return Tensors{model(sources, targets, mask),
                       model(targets, cache, d.flag() ? d.mask({n, t}) : Tensor()),
                       model.forward_with_weights(sources, targets, mask).output};
      },
      0.5);
  table.add("KeyValueCache", [](Draw& d) {
    KeyValueCache cache;
    Tensors seen;
    for (std::int64_t i = d.below(4); i > 0; --i) {
      const std::int64_t n = d.below(3), t = d.below(70);
      const AttentionHeads h{{}, d.near({n, 2, t, 3}), d.near({n, 2, t, 2})};
      const auto now = cache.append(h, d.flag() ? d.mask({n, t}) : Tensor(), d.around(0, 40));
      seen.push_back(now.heads.k);
      seen.push_back(now.heads.k_positions);
    }
    cache.select(d.indices({d.below(3)}, d.below(3)));
    return seen;
  });
  table.add(
      "generate",
      [](Draw& d) {
        Generator rng(d.seed());
        const std::int64_t vocabulary = d.below(5);
        GenerateOptions options{.length = d.around(0, 4)};
        if (d.chance(0.4)) options.temperature = d.number();
        if (d.chance(0.4)) options.top_k = d.around(0, 6);
        if (d.chance(0.4)) options.top_p = d.fraction();
        if (d.chance(0.4)) options.stop = {d.below(5)};
        if (d.chance(0.4)) options.beams = d.around(0, 4);
        if (d.chance(0.2)) options.length_penalty = d.number();
        if (d.chance(0.2)) options.min_p = d.fraction();
        if (d.chance(0.2)) options.repetition_penalty = d.number();
        if (d.chance(0.2)) options.on_token = [&](auto, auto) { return d.flag(); };
        options.cached = d.flag();
        const NextToken next = [&](const Tensor& tokens, DecodingCache&, const Tensor&) {
          return d.near({tokens.size(0), tokens.size(1), vocabulary});
        };
        const std::int64_t n = d.below(3), t = d.below(4);
        const auto texts = generate(next, d.indices({n, t}, 5), options, rng,
                                    d.flag() ? d.mask({n, t}) : Tensor());
        Tensors found;
        for (const Generated& text : texts)
          found.push_back(
              from_vector(text.tokens, {static_cast<std::int64_t>(text.tokens.size())}));
        return found;
      },
      0.5);
  table.add("SinusoidalPositions", [](Draw& d) {
    SinusoidalPositions layer;
    return run_on_tokens(d, layer, d.below(4));
  });
  table.add("sinusoidal_table", sinusoidal_table, size, size, dtype);
  table.add("LearnedPositions", [](Draw& d) {
    Generator rng(d.seed());
    const std::int64_t dim = width(d);
    LearnedPositions layer({.max_length = d.around(1, 5), .dim = dim}, rng);
    return run_on_tokens(d, layer, dim);
  });
  table.add("RandomPositions", [](Draw& d) {
    Generator rng(d.seed());
    RandomPositionsOptions options{.grid = window(d, 1), .in = width(d)};
    if (d.chance(0.3)) options.merge = PositionMerge::concat;
    const bool beside = options.merge == PositionMerge::concat;
    if (d.chance(beside ? 0.9 : 0.1)) options.channels = d.around(0, 3);
    if (d.chance(0.3)) options.stddev = d.number();
    if (d.chance(0.3)) options.correlation = decaying_correlation(d.number());
    RandomPositions layer(options, rng);
    return run_on_tokens(d, layer, options.in);
  });
}

}  // namespace ladon::test
