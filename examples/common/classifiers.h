#pragma once
// Networks that classify sequences of tokens, each described once: for its infinite limit, and for
// training.

#include <cstdint>
#include <string>

#include "ladon/examples/common/program.h"
#include "ladon/examples/common/progress.h"
#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/layers.h"

namespace ladon::example {

/// Rows of a set. Token models see each as a sequence of vectors (an image's patches, a review's
/// words), dense models as one vector.
struct ClassifierRows {
  infinite::Inputs tokens;  ///< f64 [N, rows, columns, d], or [N, T, d] with a mask.
  infinite::Inputs dense;   ///< f64 [N, D]
  Tensor labels;            ///< i64 [N]

  std::int64_t size() const { return labels.size(0); }
};

struct ClassifierTask {
  std::string name, description;
  ClassifierRows train, test;
  std::int64_t classes = 0;
  std::int64_t rows = 0, columns = 0;  ///< The grid of an image's patches; 0 for other tokens.

  bool images() const { return rows > 0; }
};

struct ClassifierModel {
  const char *name, *description;
  bool hidden = true;  ///< Three hidden layers; else none.
  bool tokens = true;  ///< Sees sequences of tokens; else one vector per input.
  bool attends = false, residual = false;
  /// Readout of tokens: side by side, which needs a grid of them, or as their mean.
  bool side_by_side = true, mean = true;  ///< Both: the first of them that the task allows.

  const infinite::Inputs& inputs(const ClassifierRows& examples) const {
    return tokens ? examples.tokens : examples.dense;
  }
  /// Whether tokens are read out side by side.
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

/// Settings of networks and of their training.
struct ClassifierSettings {
  double sharpness = 1;  ///< σ_Q·σ_K of attention.
  int width = 128, epochs = 20;
  double learning_rate = 0.01;
};
void add_classifier_options(Program& program, ClassifierSettings& settings);

/// The network with hidden layers of this width. Its limit does not depend on width or generator.
Sequential network(const ClassifierModel& model, const ClassifierTask& task, double sharpness,
                   std::int64_t width, Generator& rng);

/// Training rows that fit() sees; the last tenth is held out.
inline std::int64_t trained_rows(const ClassifierTask& task) {
  return task.train.size() - task.train.size() / 10;
}

/// Trains by Adam on the cross-entropy, the rate falling to zero along half a cosine; whether the
/// loss stayed finite. Counts as one step of the progress. Throws Interrupted.
bool fit(Sequential& net, const ClassifierModel& model, const ClassifierTask& task,
         const ClassifierSettings& settings, Generator& rng, Progress& progress);

/// [N, classes], f64, of inputs in f64, computed a batch at a time.
Tensor logits(const Sequential& net, const infinite::Inputs& inputs);

}  // namespace ladon::example
