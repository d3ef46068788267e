#pragma once
// The page of the example: particles that move while one looks, and what many dimensions leave of
// them.

#include <vector>

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/examples/particles/study.h"

namespace ladon::example {

/// Of at least one target, and of the collapse's table.
Page page(const Settings& settings, const std::vector<TargetStudy>& studies, const Table& collapse);

}  // namespace ladon::example
