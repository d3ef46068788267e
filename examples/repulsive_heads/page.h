#pragma once
// The page of the example: methods and epochs to turn.

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/repulsive_heads/results.h"

namespace ladon::example {

/// Of a task whose right tokens are known, and of the seed that the pictures show. Trains each of
/// these methods with it once more, to look at every epoch: runs of one seed are the same to the
/// last bit. Throws Interrupted.
Page page(const Settings& settings, const Task& task, const Outcomes& outcomes);

}  // namespace ladon::example
