#pragma once
// Clipping of gradients, in place, between backward() and step().

#include "ladon/layers/parameter_set.h"

namespace ladon {

struct ClipOptions {
  /// If the norm is NaN or infinite: true throws Error; false leaves the gradients untouched and
  /// returns the norm, so that the caller can skip the step.
  bool error_if_nonfinite = true;
};

/// Scales all gradients by max_norm/norm if their joint Euclidean norm, computed in f64, exceeds
/// max_norm. Returns the norm before scaling. Parameters that are frozen or have no gradient are
/// skipped, and a parameter that occurs twice in the set counts once. The norm is right even if
/// squares of elements overflow or underflow f64. Throws Error if max_norm ≤ 0 or is NaN, and
/// whenever ParameterSet::check_in_place throws.
double clip_grad_norm(const ParameterSet& parameters, double max_norm, ClipOptions options = {});

/// Clamps every element of the gradients to [−max_value, max_value]; NaN stays NaN. Throws Error if
/// max_value ≤ 0 or is NaN, and whenever ParameterSet::check_in_place throws.
void clip_grad_value(const ParameterSet& parameters, double max_value);

}  // namespace ladon
