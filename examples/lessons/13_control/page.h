#pragma once
// Interactive page of lesson 13: choose two arms, an error, and numbers of folds, seeds and
// studies.

#include <cstdint>

#include "ladon/examples/common/page/page.h"

namespace ladon::example {

/// Ten studies, of this seed and the next nine: nine times as many fits as the program's own.
Page page(std::uint64_t seed);

}  // namespace ladon::example
