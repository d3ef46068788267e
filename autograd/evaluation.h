#pragma once
// Scope in which a network must be a deterministic function.

#include <optional>

#include "ladon/core/modes.h"

namespace ladon::detail {

/// While such an object is alive on this thread, dropout and every other layer in training mode
/// that draws random numbers or updates running statistics throws Error naming `operation`. This
/// includes the parallel loops and background tasks that the thread starts during this time. With
/// `examples_alone`, normalization by batch statistics throws too, because it makes the output for
/// one example depend on the other examples. The restrictions of all living scopes apply, in
/// whatever order they end; Errors name the operation of the youngest.
class EvaluationScope : private Scoped<const char*> {
 public:
  explicit EvaluationScope(const char* operation, bool examples_alone = false)
      : Scoped(modes.evaluating.operation, operation) {
    if (examples_alone) alone_.emplace(modes.evaluating.examples_alone, true);
  }

 private:
  std::optional<Scoped<bool>> alone_;  // sets the mode `examples_alone` to true, if asked for
};

/// Throws Error inside an EvaluationScope that forbids what the layer `who` is about to do: draw
/// random numbers or update running statistics (`training`), or normalize by statistics of the
/// batch (`batch_statistics`).
void refuse_in_evaluation(const char* who, bool training, bool batch_statistics);

}  // namespace ladon::detail
