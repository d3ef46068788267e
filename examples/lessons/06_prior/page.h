#pragma once
// Interactive page of lesson 6: set the scales of a prior.

#include <functional>

#include "ladon/core/tensor.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/layers/containers.h"

namespace ladon::example {

/// Function that makes a network with the given scale of queries and keys.
using MakeNetwork = std::function<Sequential(double query_key_std)>;

/// w and b are the frequencies and phases of the tokens, [2, 3]. `sure` is the lesson's table of
/// the share of networks that give one class more than 95%, per scale of values and outputs, at the
/// scale 4 of queries and keys.
Page page(const Tensor& w, const Tensor& b, const MakeNetwork& network, const Table& sure);

}  // namespace ladon::example
