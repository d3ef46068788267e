#include "ladon/examples/repulsive_heads/model.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/text/vocabulary.h"

namespace ladon::example {
namespace {

// Of words and positions: small, so that the first logits are even.
constexpr double start_stddev = 0.1;
// Of given word vectors: larger, since they know something, but not so large that the trained
// columns beside them vanish in the first layer norm.
constexpr double vector_rms = 0.25;

/// [vocabulary, dim]: the given vectors, scaled, in the first columns, N(0, start_stddev²)
/// elsewhere.
Tensor with_word_vectors(const Tensor& vectors, std::int64_t dim, Generator& rng) {
  const std::int64_t width = vectors.size(1);
  LADON_CHECK(width <= dim, "repulsive_heads", "word vectors of width ", width,
              " do not fit into --dim ", dim);
  const Tensor rest = normal({vectors.size(0), dim - width}, rng, 0, start_stddev);
  const double rms = std::sqrt(mean(square(vectors)).item());
  return concat({vectors * (vector_rms / rms), rest}, 1);
}

}  // namespace

Classifier::Classifier(const Settings& s, const Task& task, Generator& source)
    : embedding({.count = task.vocabulary, .dim = s.dim, .stddev = start_stddev}, source),
      positions({.max_length = task.max_length, .dim = s.dim, .stddev = start_stddev}, source),
      embedding_dropout(s.dropout, source),
      feature_dropout(s.dropout, source),
      encoder(
          {.layer = {.dim = s.dim, .heads = s.heads, .hidden = 2 * s.dim, .dropout = s.dropout / 2},
           .layers = s.layers},
          source),
      pooling(task.questions > 1 ? Pooling::first : Pooling::max),
      readout({.in = s.dim, .out = task.questions * task.classes}, source),
      questions(task.questions),
      word_dropout(s.word_dropout),
      rng(source.split(source.reserve(1))) {
  if (task.word_vectors.defined())
    embedding.weight = parameter(with_word_vectors(task.word_vectors, s.dim, source));
}

Tensor Classifier::embed(const TextBatch& batch) const {
  Tensor tokens = batch.tokens;
  if (training() && word_dropout > 0) {
    const Tensor dropped = logical_and(bernoulli(tokens.shape(), rng, word_dropout), batch.mask);
    tokens = where(dropped, full(tokens.shape(), Vocabulary::unknown, i64), tokens);
  }
  const Tensor vectors = embedding(tokens);  // [B, T, dim] or [B, T, fields, dim]
  return embedding_dropout(positions(vectors.rank() == 4 ? sum(vectors, 2) : vectors));
}

Tensor Classifier::logits(const TextBatch& batch) const {
  const Tensor h = encoder.forward(embed(batch), {.key_mask = batch.mask});
  const Tensor y = readout(feature_dropout(pool(pooling, h, batch.mask)));
  return reshape(y, {y.size(0), questions, y.size(1) / questions});
}

std::vector<Tensor> Classifier::attention_maps(const TextBatch& batch) const {
  return encoder.forward_with_weights(embed(batch), {.key_mask = batch.mask}).weights;
}

void Classifier::visit(Visitor& v) {
  v("embedding", embedding);
  v("positions", positions);
  v("embedding_dropout", embedding_dropout);
  v("encoder", encoder);
  v("feature_dropout", feature_dropout);
  v("readout", readout);
}

}  // namespace ladon::example
