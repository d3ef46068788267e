#pragma once
// The page of lesson 13: two arms, an error, folds, seeds and studies to turn.

#include <cstdint>

#include "ladon/examples/common/page/page.h"

namespace ladon::example {

/// Ten studies, of this seed and of the next nine: it fits nine times what the program does.
Page page(std::uint64_t seed);

}  // namespace ladon::example
