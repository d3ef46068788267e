#pragma once
// The page of lesson 2: width, root, temperature, mask and the logits themselves to turn.

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"

namespace ladon::example {

/// widths: the largest weight by width d, with the root and without.
Page page(const Table& widths);

}  // namespace ladon::example
