#pragma once
// The page of the example: heads and widths to turn, and one more network.

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/nngp_compare/study.h"

namespace ladon::example {

/// Of a study of the tour with identity ζ, which the page can draw by itself.
Page page(const Study& study, const Tensor& x);

}  // namespace ladon::example
