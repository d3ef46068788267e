#pragma once
// Models that read one text and write another: embedding, encoder, decoder, logits.

#include <vector>

#include "ladon/layers/embedding.h"
#include "ladon/layers/sequence/generate.h"
#include "ladon/layers/transformer/transformer.h"

namespace ladon {

struct TranslationModelOptions {
  std::int64_t vocabulary;  ///< Of sources and targets together.
  TransformerOptions body;  ///< Its dropout is also that of the embeddings.
};

/// Sources i64 [batch, S] and targets so far i64 [batch, T] → logits of the targets' next tokens
/// [batch, T, vocabulary].
///
/// One table E is the embedding of sources, that of targets, and the map to the logits (Press and
/// Wolf 2017; Vaswani et al. 2017, section 3.4): x_t = sqrt(dim)·E[token_t] + P_t with the
/// sinusoidal P and rows of E of length 1 at first; logits = y·Eᵀ. Texts may have any length.
struct TranslationModel : Callable<TranslationModel> {
  Embedding embedding;
  Dropout dropout;
  Transformer body;

  TranslationModel(const TranslationModelOptions& options, Generator& rng);
  /// Throws Error: it needs targets.
  Tensor forward(const Tensor& sources) const override;
  /// source_mask: bool [batch, S], false = padding; undefined: all are tokens. Targets need none:
  /// what stands after their end sees them, and is not seen.
  Tensor forward(const Tensor& sources, const Tensor& targets,
                 const Tensor& source_mask = {}) const;
  /// The same, and where the decoder looked: of each of its layers the weights [batch, heads, T,
  /// S].
  TransformerDecoder::Details forward_with_weights(const Tensor& sources, const Tensor& targets,
                                                   const Tensor& source_mask) const;
  /// A cache that has read the sources, and seen no target yet.
  DecodingCache remember(const Tensor& sources, const Tensor& source_mask = {}) const;
  /// New target tokens after those that the cache remembers; mask: bool [batch, T], false =
  /// padding. Not recorded. Throws Error unless remember() made the cache.
  Tensor forward(const Tensor& targets, DecodingCache& cache, const Tensor& mask = {}) const;
  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  Tensor embedded(const Tensor& tokens, const Tensor& positions) const;
  Tensor embedded(const Tensor& tokens) const;
  Tensor encoded(const Tensor& sources, const Tensor& source_mask) const;
};

/// generate() by this model, which must outlive what it returns, from a cache of remember(). The
/// model is to be in evaluation mode.
NextToken next_token(const TranslationModel& model);
NextToken next_token(const TranslationModel&& temporary) = delete;

}  // namespace ladon
