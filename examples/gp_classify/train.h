#pragma once
// The finite network beside its limit.

#include "ladon/examples/common/progress.h"
#include "ladon/examples/gp_classify/models.h"

namespace ladon::example {

/// Trains the network that the model describes, from its own initialization, by Adam on the
/// cross-entropy; the rate falls to zero along half a cosine. The last tenth of the training rows
/// is held out, and the logits are scaled so as to predict it best. Ends where the loss is not
/// finite: it diverged. Counts as one step of the progress. Throws Interrupted.
Outcome train_finite(const Model& model, const Task& task, const Settings& settings,
                     Progress& progress);

}  // namespace ladon::example
