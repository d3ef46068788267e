#pragma once
// Interactive page of lesson 13: choose two arms to compare, one of three standard errors of their
// difference, and the numbers of folds, seeds and studies.

#include <cstdint>

#include "ladon/examples/common/page/page.h"

namespace ladon::example {

/// Page of ten studies, with this seed and the next nine; runs the fits of all ten.
Page page(std::uint64_t seed);

}  // namespace ladon::example
