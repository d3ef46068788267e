#pragma once
// The classifier that every method trains.

#include "ladon/core/data/batches.h"
#include "ladon/examples/repulsive_heads/task.h"
#include "ladon/layers/layers.h"

namespace ladon::example {

/// tokens [B, T] → embedding (+ projection of word vectors) + positions → encoder → pooling →
/// logits [B, questions, classes].
struct Classifier : Module {
  Embedding embedding;
  std::optional<Linear> widen;  ///< From the width of given word vectors to the model's.
  LearnedPositions positions;
  Dropout embedding_dropout, feature_dropout;
  TransformerEncoder encoder;
  Pooling
      pooling;  ///< First token where several questions are asked, else the maximum over tokens.
  Linear readout;
  std::int64_t questions;
  double word_dropout;  ///< Probability that a token is replaced by the unknown word, in training.
  mutable Generator rng;

  Classifier(const Settings& settings, const Task& task, Generator& rng);
  Tensor logits(const Batch& batch) const;
  /// Attention weights [B, heads, T, T] of each layer.
  std::vector<Tensor> attention_maps(const Batch& batch) const;
  void visit(Visitor& v) override;
  std::string describe() const override { return "Classifier"; }

 private:
  Tensor embed(const Batch& batch) const;
};

}  // namespace ladon::example
