#pragma once
// Sequence-to-sequence models: embedding, encoder, decoder, logits.

#include <vector>

#include "ladon/layers/embedding.h"
#include "ladon/layers/extra/sequence/generate.h"
#include "ladon/layers/transformer/transformer.h"

namespace ladon {

struct TranslationModelOptions {
  std::int64_t vocabulary;  ///< Number of tokens, common to sources and targets.
  TransformerOptions body;  ///< Its dropout also applies to embeddings.
};

/// Sources i64 [batch, S] and targets so far i64 [batch, T] → logits of the targets' next tokens
/// [batch, T, vocabulary].
///
/// One table E is the embedding of sources and of targets, and the map to the logits (Press and
/// Wolf 2017; Vaswani et al. 2017, section 3.4): x_t = sqrt(dim)·E[token_t] + P_t with the
/// sinusoidal table P, and rows of E that initially have length 1; logits = y·Eᵀ. Texts may have
/// any length.
struct TranslationModel : Callable<TranslationModel> {
  Embedding embedding;
  Dropout dropout;
  Transformer body;

  TranslationModel(const TranslationModelOptions& options, Generator& rng);
  /// Throws Error: it needs targets.
  Tensor forward(const Tensor& sources) const override;
  /// source_mask: bool [batch, S], false = padding; undefined means all are tokens. Targets need no
  /// mask: by causal attention no target token sees the padding after it.
  Tensor forward(const Tensor& sources, const Tensor& targets,
                 const Tensor& source_mask = {}) const;
  /// Output of forward(), with the weights [batch, heads, T, S] of the decoder's attention to the
  /// sources per layer.
  TransformerDecoder::Details forward_with_weights(const Tensor& sources, const Tensor& targets,
                                                   const Tensor& source_mask) const;
  /// New cache with the encoded sources, and with no targets yet.
  DecodingCache remember(const Tensor& sources, const Tensor& source_mask = {}) const;
  /// Logits for new target tokens that follow those in the cache; mask: bool [batch, T], false =
  /// padding. Runs under NoGrad. Throws Error unless remember() made the cache.
  Tensor forward(const Tensor& targets, DecodingCache& cache, const Tensor& mask = {}) const;
  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  Tensor embedded(const Tensor& tokens, const Tensor& positions) const;
  Tensor embedded(const Tensor& tokens) const;
  Tensor encoded(const Tensor& sources, const Tensor& source_mask) const;
};

/// Function for generate() that calls this model, which must outlive it; start from a cache of
/// remember(). Put the model into evaluation mode first.
NextToken next_token(const TranslationModel& model);
NextToken next_token(const TranslationModel&& temporary) = delete;

}  // namespace ladon
