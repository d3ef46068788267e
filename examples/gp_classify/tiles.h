#pragma once
// Kernels past the memory: tiles on disk, and a solver that reads them.

#include <optional>

#include "ladon/examples/common/progress.h"
#include "ladon/examples/gp_classify/models.h"
#include "ladon/examples/gp_classify/predict.h"

namespace ladon::example {

/// What one kernel of a model says of the test inputs.
struct TiledPrediction {
  Tensor probabilities;  ///< f64 [test, classes]
  Choice choice;
  double seconds;
  std::optional<Iterated> iterated;  ///< Of conjugate gradients.
};

/// As fit() and predict() of the model's NNGP kernel or NTK, which is in the settings' folder, with
/// the settings' solver: its factor on disk as well, or conjugate gradients. What noise and
/// amplitude are chosen on are the first rows, as many as the budget allows. Says what it takes and
/// how exact it is. Throws Error, naming the option to change, where that is more than the budget
/// or the disk; and Interrupted. Counts as `steps` of the progress.
TiledPrediction predict_by_tiles(const Model& model, const Task& task, const Settings& settings,
                                 infinite::Get get, Progress& progress, double steps);

}  // namespace ladon::example
