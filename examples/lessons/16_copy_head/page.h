#pragma once
// Interactive page of lesson 16: set the data, the scale of the logit, and watch gradient ascents.

#include "ladon/core/tensor.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"

namespace ladon::example {

/// x, y: inputs (the tokens before) and targets [positions, symbols], 16 positions per sequence;
/// noise: variance of the targets; weight: of M times symbols; table: what the samplers found.
Page page(const Tensor& x, const Tensor& y, double noise, double weight, const Table& table);

}  // namespace ladon::example
