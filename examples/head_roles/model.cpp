#include "ladon/examples/head_roles/study.h"

namespace ladon::example {

constexpr double start_stddev = 0.1;  // small, so that the first logits are nearly equal

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
      questions(task.questions) {
  if (task.embedding.defined()) embedding.weight = parameter(clone(task.embedding));
}

Tensor Classifier::embed(const TextBatch& batch) const {
  const Tensor vectors = embedding(batch.tokens);  // [B, T, dim] or [B, T, fields, dim]
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

Predictions predict(const Classifier& model, const std::vector<TextBatch>& batches) {
  std::vector<Tensor> probabilities, labels;
  for (const TextBatch& batch : batches) {
    probabilities.push_back(flatten(softmax(model.logits(batch)), 0, 1));
    labels.push_back(flatten(batch.labels));
  }
  return {concat(probabilities, 0), concat(labels, 0)};
}

}  // namespace ladon::example
