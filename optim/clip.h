#pragma once
// Clipping of gradients, in place, between backward() and step().

#include "ladon/layers/parameter_set.h"

namespace ladon {

struct ClipOptions {
  /// Throw Error where the norm is NaN or infinite. Otherwise the gradients are left untouched and
  /// the norm is returned, so that the caller can skip the step.
  bool error_if_nonfinite = true;
};

/// Scales all gradients by max_norm/norm if their common Euclidean norm, computed in f64, is above
/// max_norm. Returns the norm before. Parameters that are frozen, or without gradient, are passed
/// over, and one that the set has twice counts once. Squares may leave the range of f64. Throws
/// Error unless max_norm > 0, and as ParameterSet::check_in_place does.
double clip_grad_norm(const ParameterSet& parameters, double max_norm, ClipOptions options = {});

/// Limits every entry of the gradients to [−max_value, max_value]; NaN stays NaN. Throws Error
/// as clip_grad_norm does.
void clip_grad_value(const ParameterSet& parameters, double max_value);

}  // namespace ladon
