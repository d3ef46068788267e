#pragma once
// Classification by a model's limit: by its NNGP kernel, and by its NTK.

#include <vector>

#include "ladon/examples/common/progress.h"
#include "ladon/examples/gp_classify/models.h"

namespace ladon::example {

/// Adds the outcome of each kernel. Both are computed together, in memory; or, with the settings'
/// other solvers, one after the other as tiles in their folder, which the solver reads. Says what a
/// matrix will take before it begins, and what was chosen. Counts kernel_steps of the progress.
/// Throws Error, naming the options that help, where that is more than the budget or the disk; and
/// Interrupted.
void add_infinite(const Model& model, const Task& task, const Settings& settings,
                  Progress& progress, std::vector<Outcome>& outcomes);
constexpr int kernel_steps = 6;

}  // namespace ladon::example
