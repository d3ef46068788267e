// Entries of layers with attention (layers/attention, layers/transformer, layers/extra/sequence),
// also with attention hooks.

#include "entries.h"
#include "entry_of_layer.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/extra.h"

namespace ladon::bench::every {
namespace {

std::int64_t heads(Draw& d) { return d.of(2, 4, 8); }

MultiHeadAttention attention(Draw& d, Owned<AttentionHook> hook = {}) {
  return MultiHeadAttention({.dim = channels(d), .heads = heads(d), .hook = std::move(hook)},
                            d.rng());
}

void add_attention_layers(Table& t) {
  add_layer(t, "MultiHeadAttention", sequences, [](Draw& d) { return attention(d); });
  add_layer(t, "MultiHeadAttention, causal", sequences, [](Draw& d) {
    return MultiHeadAttention({.dim = channels(d), .heads = heads(d), .causal = true}, d.rng());
  });
  add_layer(t, "RotaryPositions", sequences,
            [](Draw& d) { return attention(d, RotaryPositions()); });
  add_layer(t, "AlibiBias", sequences, [](Draw& d) { return attention(d, AlibiBias(heads(d))); });
  add_layer(t, "RelativeBias", sequences,
            [](Draw& d) { return attention(d, RelativeBias({.heads = heads(d)}, d.rng())); });
  add_layer(t, "WideHeads", sequences, [](Draw& d) {
    return WideHeads({.dim = channels(d), .heads = heads(d), .out = 4}, d.rng());
  });
  add_layer(t, "StructuredAttention", sequences, [](Draw& d) {
    return StructuredAttention({.dim = channels(d), .hidden = channels(d), .hops = 4}, d.rng());
  });
}

TransformerEncoderLayerOptions block(Draw& d) {
  return {.dim = channels(d), .heads = heads(d), .dropout = 0};
}

/// A layer that is called with its input twice: as what it decodes and as what it attends to.
template <class Make>
void add_decoder(Table& t, const char* name, Make make) {
  const auto sample = [=](Draw& d) -> Sample {
    using Model = decltype(make(d));
    const std::shared_ptr<Model> model(new Model(make(d)));
    Tensors inputs{sequences(d)};
    for (const Tensor& p : model->parameters()) inputs.push_back(p);
    return {inputs, [model](const Tensors& x) { return (*model)(x[0], x[0]); }};
  };
  t.add_made(name, sample, of_layers);
}

void add_stacks(Table& t) {
  add_layer(t, "TransformerEncoderLayer", sequences,
            [](Draw& d) { return TransformerEncoderLayer(block(d), d.rng()); });
  add_layer(t, "TransformerEncoder", sequences,
            [](Draw& d) { return TransformerEncoder({.layer = block(d), .layers = 2}, d.rng()); });
  add_decoder(t, "TransformerDecoderLayer",
              [](Draw& d) { return TransformerDecoderLayer(block(d), d.rng()); });
  add_decoder(t, "TransformerDecoder", [](Draw& d) {
    return TransformerDecoder({.layer = block(d), .layers = 2}, d.rng());
  });
  add_decoder(t, "Transformer", [](Draw& d) {
    return Transformer({.layer = block(d), .encoder_layers = 1, .decoder_layers = 1}, d.rng());
  });
}

std::int64_t vocabulary(Draw& d) { return d.of(16, 256, 4096); }
Tensor tokens(Draw& d) { return d.below(vocabulary(d), {d.of(2, 4, 8), positions(d)}); }

void add_language(Table& t) {
  add_layer(t, "LanguageModel", tokens, [](Draw& d) {
    LanguageModelOptions o = gpt2(vocabulary(d), 2, channels(d), heads(d), positions(d));
    o.layer.dropout = 0;
    return LanguageModel(o, d.rng());
  });
  const auto translated = [](Draw& d) -> Sample {
    const auto model = std::make_shared<TranslationModel>(
        TranslationModelOptions{
            .vocabulary = vocabulary(d),
            .body = {.layer = block(d), .encoder_layers = 1, .decoder_layers = 1}},
        d.rng());
    Tensors inputs{tokens(d)};
    for (const Tensor& p : model->parameters()) inputs.push_back(p);
    return {inputs, [model](const Tensors& x) { return (*model)(x[0], x[0]); }};
  };
  t.add_made("TranslationModel", translated, of_layers);
}

}  // namespace

void add_transformers(Table& t) {
  t.family("layers with attention");
  add_attention_layers(t);
  add_stacks(t);
  add_language(t);
}

}  // namespace ladon::bench::every
