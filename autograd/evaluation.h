#pragma once
// Scope in which a network must be a deterministic function.

#include "ladon/core/modes.h"

namespace ladon::detail {

/// While such an object is alive on this thread, dropout and every other layer in training mode
/// that draws random numbers or updates running statistics throws Error naming `operation`. This
/// includes the parallel loops and background tasks that the thread starts during this time. With
/// `examples_alone`, normalization by batch statistics throws too, because it makes the output for
/// one example depend on the other examples. Scopes nest; the restrictions of all of them apply.
class EvaluationScope {
 public:
  explicit EvaluationScope(const char* operation, bool examples_alone = false)
      : mode_(modes.evaluating, {operation, examples_alone || modes.evaluating.examples_alone}) {}

 private:
  Bracket<Modes::Evaluation> mode_;
};

/// Throws Error inside an EvaluationScope that forbids what the layer `who` is about to do: draw
/// random numbers or update running statistics (`training`), or normalize by statistics of the
/// batch (`batch_statistics`).
void refuse_in_evaluation(const char* who, bool training, bool batch_statistics);

}  // namespace ladon::detail
