#pragma once
// The classifier that every method trains.

#include "ladon/core/data/batches.h"
#include "ladon/examples/repulsive_heads/task.h"
#include "ladon/layers/layers.h"

namespace ladon::example {

/// tokens → embedding + positions → encoder → pooling → logits [B, questions, classes]. A token may
/// have several fields ([B, T, fields]): its vector is the sum of theirs. Given word vectors fill
/// the first columns of the embedding and are trained further.
struct Classifier : Module {
  Embedding embedding;
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
  Tensor logits(const TextBatch& batch) const;
  /// Attention weights [B, heads, T, T] of each layer.
  std::vector<Tensor> attention_maps(const TextBatch& batch) const;
  void visit(Visitor& v) override;
  std::string describe() const override { return "Classifier"; }

 private:
  Tensor embed(const TextBatch& batch) const;
};

}  // namespace ladon::example
