#pragma once
// The finite network beside its limit.

#include <functional>

#include "ladon/examples/gp_classify/models.h"

namespace ladon::example {

/// Where a network looks in the task's shown images: attention_on_patches, undefined where there is
/// none.
struct AttentionMaps {
  Tensor before = {}, after = {};  ///< Training; f64 [images, rows, columns].
};

struct Trained {
  Tensor probabilities = {};  ///< f64 [test, classes]; undefined if it diverged
  std::int64_t parameters = 0;
  double seconds = 0;
  AttentionMaps attention = {};
};

/// Trains the network that the model describes, from its own initialization, by Adam on the
/// cross-entropy; the rate falls to zero along half a cosine. The last tenth of the training rows
/// is held out, and the logits are scaled so as to predict it best. Calls `after_epoch` after each,
/// and ends where the loss is not finite: it diverged. Throws Interrupted.
Trained train_finite(const Model& model, const Task& task, const Settings& settings,
                     const std::function<void()>& after_epoch);

}  // namespace ladon::example
