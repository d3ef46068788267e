#pragma once
// The page of lesson 15: the width, heads to prune and the strength of a path to turn.

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/examples/lessons/15_paths/chains.h"

namespace ladon::example {

/// Of one data set, with 100 of its chains to test; table: the lesson's.
Page page(const Chains& set, const Table& table);

}  // namespace ladon::example
