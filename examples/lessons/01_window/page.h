#pragma once
// Interactive page of lesson 1: set the shape, strides and offset of a window.

#include "ladon/examples/common/page/page.h"

namespace ladon::example {

/// Windows on a matrix [3, 4] to set by hand, checked by the library's views and their gradients.
Page page();

}  // namespace ladon::example
