#pragma once
// Interactive page of lesson 2: set the width, the scale 1/√d, the temperature, mask and logits.

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"

namespace ladon::example {

/// `widths` is the lesson's table of the largest weight for each width d, with and without division
/// of the logits by √d.
Page page(const Table& widths);

}  // namespace ladon::example
