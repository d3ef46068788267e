#pragma once
// Networks that classify sequences of tokens. One description of a network serves both its
// infinite-width limit and its training.

#include <cstdint>
#include <string>

#include "ladon/examples/common/program.h"
#include "ladon/examples/common/progress.h"
#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/layers.h"

namespace ladon::example {

/// N inputs and labels of a data set. Token models read an input as a sequence of vectors (the
/// patches of an image, the words of a review), dense models as one vector.
struct ClassifierRows {
  infinite::Inputs tokens;  ///< f64 [N, rows, columns, d], or [N, T, d] with a mask, for T tokens.
  infinite::Inputs dense;   ///< f64 [N, D]
  Tensor labels;            ///< i64 [N]

  std::int64_t size() const { return labels.size(0); }
};

struct ClassifierTask {
  std::string name, description;
  ClassifierRows train, test;
  std::int64_t classes = 0;
  std::int64_t rows = 0, columns = 0;  ///< Grid of an image's patches; 0 for other tokens.

  bool images() const { return rows > 0; }
};

struct ClassifierModel {
  const char *name, *description;
  bool hidden = true;  ///< Whether it has three hidden layers; else it has none.
  bool tokens = true;  ///< Whether it reads sequences of tokens, or one vector per input.
  bool attends = false, residual = false;
  /// Readouts of tokens that the model can have: concatenation, which needs a grid of tokens, and
  /// the mean. If both are true, tasks with a grid use concatenation.
  bool side_by_side = true, mean = true;

  const infinite::Inputs& inputs(const ClassifierRows& examples) const {
    return tokens ? examples.tokens : examples.dense;
  }
  /// Whether tokens are concatenated for the readout.
  bool flattens(const ClassifierTask& task) const {
    return tokens && side_by_side && task.images();
  }
};

constexpr ClassifierModel classifier_models[] = {
    {.name = "linear", .description = "no hidden layer", .hidden = false, .tokens = false},
    {.name = "dense", .description = "3 hidden layers of the whole input", .tokens = false},
    {.name = "flatten", .description = "patches side by side", .mean = false},
    {.name = "pool", .description = "the mean of the tokens", .side_by_side = false},
    {.name = "attention",
     .description = "attention, then patches side by side (or the mean of the words)",
     .attends = true},
    {.name = "residual",
     .description = "the same with part of the tokens kept as they were",
     .attends = true,
     .residual = true}};

/// Settings of the networks and of their training.
struct ClassifierSettings {
  double sharpness = 1;  ///< Factor σ_Q·σ_K of attention's logits.
  int width = 128, epochs = 20;
  double learning_rate = 0.01;
};
void add_classifier_options(Program& program, ClassifierSettings& settings);

/// The network with hidden layers of this width. Its infinite-width limit depends neither on the
/// width nor on the generator.
Sequential network(const ClassifierModel& model, const ClassifierTask& task, double sharpness,
                   std::int64_t width, Generator& rng);

/// Number of training rows that fit() uses; the last tenth is held out.
inline std::int64_t trained_rows(const ClassifierTask& task) {
  return task.train.size() - task.train.size() / 10;
}

/// Trains by Adam on the cross-entropy, with a cosine schedule that ends at rate 0. Returns false
/// if the training diverged: the loss of a batch was a million nats or more, or NaN. Advances
/// `progress` by one step. Throws Interrupted after Ctrl-C.
bool fit(Sequential& net, const ClassifierModel& model, const ClassifierTask& task,
         const ClassifierSettings& settings, Generator& rng, Progress& progress);

/// Logits [N, classes], f64, of N inputs in f64, computed in batches.
Tensor logits(const Sequential& net, const infinite::Inputs& inputs);

}  // namespace ladon::example
