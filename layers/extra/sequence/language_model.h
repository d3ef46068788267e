#pragma once
// Models of the next token: embedding, causal Transformer, logits.

#include <optional>

#include "ladon/layers/attention/positional.h"
#include "ladon/layers/embedding.h"
#include "ladon/layers/extra/sequence/generate.h"
#include "ladon/layers/transformer/transformer.h"

namespace ladon {

struct LanguageModelOptions {
  std::int64_t vocabulary;
  std::int64_t layers;
  /// Options of each layer. Attention is made causal; its hook may be RotaryPositions or AlibiBias.
  TransformerEncoderLayerOptions layer;
  std::int64_t max_length = 0;  ///< If > 0, adds trained positions, up to this length.
  bool tied = true;        ///< Logits are inner products with the embeddings (Press and Wolf 2017).
  double init_std = 0.02;  ///< Standard deviation of embeddings, trained positions, untied head.
};

/// Architecture of GPT-2 (Radford et al. 2019): trained positions, pre-norm, tanh-GELU, tied.
/// Dropout is 0.1.
LanguageModelOptions gpt2(std::int64_t vocabulary, std::int64_t layers, std::int64_t dim,
                          std::int64_t heads, std::int64_t max_length);
/// Architecture of Llama (Touvron et al. 2023): rotary positions, RMSNorm, SwiGLU of width
/// `hidden`, no biases, no dropout, untied. `kv_heads` is as in MultiHeadAttentionOptions.
LanguageModelOptions llama(std::int64_t vocabulary, std::int64_t layers, std::int64_t dim,
                           std::int64_t heads, std::int64_t kv_heads, std::int64_t hidden,
                           double rope_base = 10000, double norm_eps = 1e-5);

/// Tokens i64 [batch, T] → logits of the tokens after them [batch, T, vocabulary].
struct LanguageModel : Callable<LanguageModel> {
  Embedding embedding;
  std::optional<LearnedPositions> positions;
  Dropout dropout;
  TransformerEncoder body;
  Part<Linear> head;  ///< Map to the logits; absent if tied.

  LanguageModel(LanguageModelOptions options, Generator& rng);
  Tensor forward(const Tensor& tokens) const override { return forward_masked(tokens, {}); }
  Tensor forward_masked(const Tensor& tokens, const Tensor& mask) const override;
  /// Logits for new tokens that follow those in the cache; mask: bool [batch, T], false = padding.
  /// Runs under NoGrad.
  Tensor forward(const Tensor& tokens, DecodingCache& cache, const Tensor& mask = {}) const;
  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  friend NextToken next_token(const LanguageModel& model);
  Tensor logits(const Tensor& y) const;
  Tensor features(const Tensor& tokens, DecodingCache& cache, const Tensor& mask) const;
};

/// Function for generate() that calls this model, which must outlive it; it computes logits of only
/// the last tokens. Put the model into evaluation mode first.
NextToken next_token(const LanguageModel& model);
NextToken next_token(const LanguageModel&& temporary) = delete;

/// Copies the weights of a model of the same architecture that was trained elsewhere, under Hugging
/// Face's names for GPT-2 (`h.0.attn.c_attn.weight`, with or without the prefix `transformer`) or
/// Llama (`model.layers.0.self_attn.q_proj.weight`); the names tell which of the two it is. Buffers
/// that are not weights are skipped. Throws Error naming the first name that is missing or surplus,
/// or whose shape differs, and for GPT-2's names if attention has a hook; the model then stays
/// unchanged.
void from_names(LanguageModel& model, const StateDict& state);
/// The model's weights under Hugging Face's names: those of GPT-2 (with the prefix) if the model
/// has trained positions, else those of Llama. Throws Error if the model has tensors without such a
/// name, or trained positions and a hook, such as RotaryPositions, for which GPT-2 has no name.
StateDict to_names(const LanguageModel& model);

}  // namespace ladon
