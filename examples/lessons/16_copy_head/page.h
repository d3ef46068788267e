#pragma once
// Interactive page of lesson 16: set the data, the scale of the logit, and watch gradient ascents.

#include "ladon/core/tensor.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"

namespace ladon::example {

/// `x` and `y` are the inputs (the token before each position) and the targets, [positions,
/// symbols], with 16 positions per sequence; `noise` is the variance of the targets' noise;
/// `weight` is w in the outputs ρ·x·M·w/√symbols, where the entries of M are N(0, 1); `table` has
/// the results of the samplers.
Page page(const Tensor& x, const Tensor& y, double noise, double weight, const Table& table);

}  // namespace ladon::example
