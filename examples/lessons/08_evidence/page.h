#pragma once
// The page of lesson 8: data sets to judge by their evidence, and targets per data set to turn.

#include "ladon/core/tensor.h"
#include "ladon/examples/common/page/page.h"

namespace ladon::example {

/// log_b [2·sizes, sets]: ln B of data sets from one head, then from infinitely many, of 3, 6, 12
/// and 24 targets.
Page page(const Tensor& log_b);

}  // namespace ladon::example
