#pragma once
// The page of lesson 11: rule, step and batch of chains to turn.

#include "ladon/core/tensor.h"
#include "ladon/examples/common/page/page.h"

namespace ladon::example {

/// rows: step, formulas of the three rules, and where they were measured these variances; items: of
/// which batches are drawn.
Page page(const std::vector<std::vector<double>>& rows, const Tensor& items);

}  // namespace ladon::example
