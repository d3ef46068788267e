#pragma once
// The kernel matrices of a model at infinite width.

#include <string>

#include "ladon/examples/gp_classify/models.h"
#include "ladon/examples/gp_classify/predict.h"

namespace ladon::example {

struct ModelKernels {
  Kernels nngp, ntk;
  double seconds = 0;
};

/// Both kernels of the model's limit on the task, in tiles. Says what they will take, on stdout,
/// before it begins; throws Error if that is more than the settings' budget.
ModelKernels compute_kernels(const Model& model, const Task& task, const Settings& settings);

}  // namespace ladon::example
