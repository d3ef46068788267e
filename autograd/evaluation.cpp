#include "ladon/autograd/evaluation.h"

#include "ladon/core/error.h"

namespace ladon::detail {
namespace {

thread_local EvaluationScope* innermost = nullptr;

}  // namespace

EvaluationScope::EvaluationScope(const char* operation, bool examples_alone)
    : operation_(operation),
      examples_alone_(examples_alone || (innermost && innermost->examples_alone_)),
      outer_(innermost) {
  innermost = this;
}

EvaluationScope::~EvaluationScope() { innermost = outer_; }

void refuse_in_evaluation(const char* who, bool training, bool batch_statistics) {
  if (!innermost) return;
  LADON_CHECK(!training, innermost->operation_, who,
              " is in training mode, in which the same input may have another output at each call; "
              "call eval() before");
  LADON_CHECK(!batch_statistics || !innermost->examples_alone_, innermost->operation_, who,
              " takes the statistics of the batch, so that the output of an example depends on the "
              "others; each example must go through the network on its own");
}

}  // namespace ladon::detail
