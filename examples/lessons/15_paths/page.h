#pragma once
// Interactive page of lesson 15: set the width and the strength of a path, and prune heads.

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/examples/lessons/15_paths/chains.h"

namespace ladon::example {

/// Page of one data set, with 100 of its test chains; `table` is the table that the lesson prints.
Page page(const Chains& set, const Table& table);

}  // namespace ladon::example
