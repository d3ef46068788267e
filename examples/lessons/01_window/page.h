#pragma once
// The page of lesson 1: shape, strides and offset of a window to turn.

#include "ladon/examples/common/page/page.h"

namespace ladon::example {

/// Windows on a matrix [3, 4] to make by hand are the library's views, and so are their gradients.
Page page();

}  // namespace ladon::example
