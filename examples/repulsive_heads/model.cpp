#include "ladon/examples/repulsive_heads/model.h"

#include "ladon/core/data/vocabulary.h"

namespace ladon::example {
namespace {

// Of words and positions: small, so that the first logits are even.
constexpr double start_stddev = 0.1;

std::int64_t embedding_width(const Settings& s, const Task& task) {
  return task.word_vectors.defined() ? task.word_vectors.size(1) : s.dim;
}

}  // namespace

Classifier::Classifier(const Settings& s, const Task& task, Generator& source)
    : embedding({.count = task.vocabulary, .dim = embedding_width(s, task), .stddev = start_stddev},
                source),
      positions(
          {.max_length = task.max_length, .dim = embedding_width(s, task), .stddev = start_stddev},
          source),
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
  if (task.word_vectors.defined()) embedding.weight = parameter(clone(task.word_vectors));
  const std::int64_t width = embedding_width(s, task);
  if (width != s.dim) widen.emplace(LinearOptions{.in = width, .out = s.dim}, source);
}

Tensor Classifier::embed(const Batch& batch) const {
  Tensor tokens = batch.tokens;
  if (training() && word_dropout > 0) {
    const Tensor dropped = logical_and(bernoulli(tokens.shape(), rng, word_dropout), batch.mask);
    tokens = where(dropped, full(tokens.shape(), Vocabulary::unknown, i64), tokens);
  }
  const Tensor x = embedding_dropout(positions(embedding(tokens)));
  return widen ? (*widen)(x) : x;
}

Tensor Classifier::logits(const Batch& batch) const {
  const Tensor h = encoder.forward(embed(batch), {.key_mask = batch.mask});
  const Tensor y = readout(feature_dropout(pool(pooling, h, batch.mask)));
  return reshape(y, {y.size(0), questions, y.size(1) / questions});
}

std::vector<Tensor> Classifier::attention_maps(const Batch& batch) const {
  return encoder.forward_with_weights(embed(batch), {.key_mask = batch.mask}).weights;
}

void Classifier::visit(Visitor& v) {
  v("embedding", embedding);
  v("positions", positions);
  v("widen", widen);
  v("embedding_dropout", embedding_dropout);
  v("encoder", encoder);
  v("feature_dropout", feature_dropout);
  v("readout", readout);
}

}  // namespace ladon::example
