#pragma once
// Interactive page of lesson 11: choose the rule, step and batch size of sampling chains.

#include "ladon/core/tensor.h"
#include "ladon/examples/common/page/page.h"

namespace ladon::example {

/// Each of the `rows` has a step size, the variances by the formulas of the three rules and, for
/// some step sizes, the measured variances. `items` are the data from which batches are drawn.
Page page(const std::vector<std::vector<double>>& rows, const Tensor& items);

}  // namespace ladon::example
