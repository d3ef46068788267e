#include "ladon/autograd/evaluation.h"

#include "ladon/core/error.h"

namespace ladon::detail {

void refuse_in_evaluation(const char* who, bool training, bool batch_statistics) {
  const auto [operation, examples_alone] = modes.evaluating;
  if (!operation) return;
  LADON_CHECK(!training, operation, who,
              " is in training mode, so its output differs from call to call; call eval() on the "
              "model first");
  LADON_CHECK(!batch_statistics || !examples_alone, operation, who,
              " normalizes by the statistics of the batch, so one example's output depends on the "
              "other examples; keep running statistics and call eval(), or use a layer that "
              "normalizes within each example (LayerNorm, GroupNorm)");
}

}  // namespace ladon::detail
