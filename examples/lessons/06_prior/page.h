#pragma once
// The page of lesson 6: the scales of a prior to turn.

#include <functional>

#include "ladon/core/tensor.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/layers/containers.h"

namespace ladon::example {

/// A network with this scale of queries and keys.
using MakeNetwork = std::function<Sequential(double query_key_std)>;

/// w, b: frequencies and phases of the tokens [2, 3]; sure: shares of networks that are sure, by
/// the scale of values and outputs, at scale 4 of queries and keys.
Page page(const Tensor& w, const Tensor& b, const MakeNetwork& network, const Table& sure);

}  // namespace ladon::example
