#pragma once
// The page of the example: targets to drag, heads, methods, and when to stop.

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/posterior/study.h"

namespace ladon::example {

/// Of a study with exact posteriors.
Page page(const Settings& settings, const Study& study);

}  // namespace ladon::example
