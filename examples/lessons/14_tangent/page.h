#pragma once
// The page of lesson 14: steps of training, targets and the layers that learn to turn.

#include "ladon/examples/common/page/page.h"
#include "ladon/layers/infinite/limit.h"

namespace ladon::example {

/// w, phase: of the tokens [2, 3]; y: targets at the inputs −3, −1, 1 and 3; f: by step, from its
/// fifth column on, the outputs of the run's networks at −2.5.
Page page(const Tensor& w, const Tensor& phase, const infinite::Limit& limit, const Tensor& y,
          const std::vector<std::vector<double>>& f);

}  // namespace ladon::example
