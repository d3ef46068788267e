#pragma once
// Scope in which a network must be a deterministic function.

#include "ladon/core/modes.h"

namespace ladon::detail {

/// While it is alive on this thread, dropout and anything else that draws random numbers or updates
/// statistics in training mode throws Error naming `operation`, also in pieces of parallel loops
/// and in tasks begun under it. With `examples_alone`, batch statistics throw too, because they
/// make one example's output depend on the others. Scopes nest; the demands of all of them apply.
class EvaluationScope {
 public:
  explicit EvaluationScope(const char* operation, bool examples_alone = false)
      : mode_(modes.evaluating, {operation, examples_alone || modes.evaluating.examples_alone}) {}

 private:
  Bracket<Modes::Evaluation> mode_;
};

/// Throws Error inside an EvaluationScope that forbids what `who` is about to do: draw at random or
/// update running statistics (`training`), or normalize by statistics of the batch.
void refuse_in_evaluation(const char* who, bool training, bool batch_statistics);

}  // namespace ladon::detail
