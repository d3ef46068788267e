#pragma once
// Settings, questions with answers, and the network that is trained on them.

#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/examples/common/common_options.h"
#include "ladon/layers/layers.h"

namespace ladon::example {

constexpr std::int64_t heads = 8;

struct Settings {
  CommonOptions common;
  std::vector<std::string> data;  ///< TREC's files and word vectors; empty: generated.
  std::string bits;               ///< File of answers per question; empty: none.
  std::vector<std::int64_t> sizes = {32, 384};  ///< Numbers N of questions for choosing heads.
  std::int64_t networks = 3, splits = 3, epochs = 12;
};

/// Sequences: tokens i64 [n, T, fields], where a token's vector is the sum over its fields; mask
/// bool [n, T]; labels i64 [n, questions].
struct Items {
  Tensor tokens, mask, labels;
  std::int64_t size() const { return tokens.size(0); }
  Items at(const Tensor& rows) const;
};

/// Data of a task: the network is trained on `train`, heads are chosen by parts of `pool`, and
/// `test` is for testing.
struct Task {
  std::int64_t vocabulary = 0, classes = 0, dim = 32;
  Tensor vectors = {};  ///< Word vectors [vocabulary, dim]; undefined: learned from scratch.
  Items train = {}, pool = {}, test = {};
  std::int64_t questions() const { return test.labels.size(1); }
};

/// Task with four questions about a sequence: which value belongs to key r?
Task generated_task(Generator rng);
/// Task with one question: the class of a question of TREC, from files. The pool is split off the
/// training file.
Task text_task(const Settings& settings, Generator rng);

/// logits = pooled Σ_h A_h·x·V_h·O_h + b, where A_h is the attention map of head h, V_h and O_h its
/// value and output weights, and x = embedding + positions. Attention is the last layer.
struct Network : Module {
  Embedding embedding;
  Tensor positions;  ///< [T, dim]
  MultiHeadAttention attention;
  std::int64_t questions;
  Pooling pooling;

  Network(const Task& task, Generator rng);
  Tensor logits(const Items& items) const;  ///< [n, questions, classes]
  /// Pooled attention-weighted inputs of each head, f64 [heads, n, dim].
  Tensor contexts(const Items& items) const;
  /// Contribution of each head to the logits [heads, n, questions, classes], computed with all
  /// other heads masked (HeadMask).
  Tensor parts(const Items& items);
  void visit(Visitor& v) override;
  std::string describe() const override { return "Network"; }

 private:
  Tensor embed(const Items& items) const;
};

/// Trains by AdamW for `epochs` passes.
void train(Network& network, const Items& items, std::int64_t epochs, Generator order);

}  // namespace ladon::example
