#pragma once
// Interactive page of lesson 14: set the steps of training, the targets and which layers learn.

#include "ladon/examples/common/page/page.h"
#include "ladon/layers/infinite/limit.h"

namespace ladon::example {

/// `w` and `phase` are the frequencies and phases of the tokens, [2, 3]; `y` the targets at the
/// inputs −3, −1, 1 and 3; `f` has the outputs at the input −2.5, one row per step; the networks'
/// outputs begin in the fifth column.
Page page(const Tensor& w, const Tensor& phase, const infinite::Limit& limit, const Tensor& y,
          const std::vector<std::vector<double>>& f);

}  // namespace ladon::example
