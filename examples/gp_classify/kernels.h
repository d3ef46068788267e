#pragma once
// The kernel matrices of a model at infinite width.

#include <string>

#include "ladon/examples/common/progress.h"
#include "ladon/examples/gp_classify/models.h"
#include "ladon/examples/gp_classify/predict.h"

namespace ladon::example {

struct ModelKernels {
  Kernels nngp, ntk;
  double seconds = 0;
};

/// Both kernels of the model's limit on the task, in tiles. Says what they will take, on stdout,
/// before it begins; throws Error, naming the options to change, if that is more than the settings'
/// budget. All of it counts as `steps` of the progress. Throws Interrupted.
ModelKernels compute_kernels(const Model& model, const Task& task, const Settings& settings,
                             Progress& progress, double steps);

}  // namespace ladon::example
