#pragma once
// The page of lesson 16: data, ascents and the scale of the logit to turn.

#include "ladon/core/tensor.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"

namespace ladon::example {

/// x, y: tokens before and targets [positions, symbols], of 16 positions per sequence; noise: their
/// variance; weight: that of M times symbols; table: what the samplers found.
Page page(const Tensor& x, const Tensor& y, double noise, double weight, const Table& table);

}  // namespace ladon::example
