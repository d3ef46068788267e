#pragma once
// Models of the next token: embedding, causal Transformer, logits.

#include <optional>

#include "ladon/layers/attention/positional.h"
#include "ladon/layers/embedding.h"
#include "ladon/layers/sequence/generate.h"
#include "ladon/layers/transformer/transformer.h"

namespace ladon {

struct LanguageModelOptions {
  std::int64_t vocabulary;
  std::int64_t layers;
  TransformerEncoderLayerOptions layer;  ///< Made causal; rotary positions or ALiBi are its hook.
  std::int64_t max_length = 0;           ///< > 0: trained positions are added, so many.
  bool tied = true;        ///< Logits are inner products with the embeddings (Press and Wolf 2017).
  double init_std = 0.02;  ///< Of embeddings, trained positions and the untied head.
};

/// The form of GPT-2 (Radford et al. 2019): trained positions, pre-norm, tanh-GELU, tied. dropout =
/// .1.
LanguageModelOptions gpt2(std::int64_t vocabulary, std::int64_t layers, std::int64_t dim,
                          std::int64_t heads, std::int64_t max_length);
/// The form of Llama (Touvron et al. 2023): rotary positions, RMSNorm, SwiGLU of width `hidden`, no
/// biases, no dropout, untied. `kv_heads` is as in MultiHeadAttentionOptions.
LanguageModelOptions llama(std::int64_t vocabulary, std::int64_t layers, std::int64_t dim,
                           std::int64_t heads, std::int64_t kv_heads, std::int64_t hidden,
                           double rope_base = 10000, double norm_eps = 1e-5);

/// Tokens i64 [batch, T] → logits of the tokens after them [batch, T, vocabulary].
struct LanguageModel : Callable<LanguageModel> {
  Embedding embedding;
  std::optional<LearnedPositions> positions;
  Dropout dropout;
  TransformerEncoder body;
  Part<Linear> head;  ///< Of untied logits.

  LanguageModel(LanguageModelOptions options, Generator& rng);
  Tensor forward(const Tensor& tokens) const override { return forward_masked(tokens, {}); }
  Tensor forward_masked(const Tensor& tokens, const Tensor& mask) const override;
  /// New tokens after those that the cache remembers; mask: bool [batch, T], false = padding. Not
  /// recorded.
  Tensor forward(const Tensor& tokens, DecodingCache& cache, const Tensor& mask = {}) const;
  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  friend NextToken next_token(const LanguageModel& model);
  Tensor logits(const Tensor& y) const;
  Tensor features(const Tensor& tokens, DecodingCache& cache, const Tensor& mask) const;
};

/// generate() by this model, which must outlive what it returns: logits of the last tokens alone.
/// The model is to be in evaluation mode.
NextToken next_token(const LanguageModel& model);
NextToken next_token(const LanguageModel&& temporary) = delete;

/// Copies the weights of a model of the same form that was trained elsewhere, under the names that
/// Hugging Face has for GPT-2 (`h.0.attn.c_attn.weight`, with or without the prefix `transformer`)
/// or Llama (`model.layers.0.self_attn.q_proj.weight`), which tells them apart. Buffers that are no
/// weights are passed over. Throws Error naming the first name that is missing or left over, or
/// whose shape differs; the model then stays as it was.
void from_names(LanguageModel& model, const StateDict& state);
/// The model's weights under these names: those of GPT-2 (with the prefix) where it has trained
/// positions, else those of Llama. Throws Error for a model that has tensors without a name there.
StateDict to_names(const LanguageModel& model);

}  // namespace ladon
