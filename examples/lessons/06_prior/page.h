#pragma once
// Interactive page of lesson 6: set the scales of a prior.

#include <functional>

#include "ladon/core/tensor.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/layers/containers.h"

namespace ladon::example {

/// Makes a network with this scale of queries and keys.
using MakeNetwork = std::function<Sequential(double query_key_std)>;

/// w, b: frequencies and phases of the tokens, [2, 3]; sure: the lesson's table of the share of
/// networks that give one class more than 95%, per scale of values and outputs (queries and keys:
/// 4).
Page page(const Tensor& w, const Tensor& b, const MakeNetwork& network, const Table& sure);

}  // namespace ladon::example
