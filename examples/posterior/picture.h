#pragma once
// The example's pictures.

#include <filesystem>
#include <vector>

#include "ladon/examples/posterior/study.h"

namespace ladon::example {

/// Draws out/posterior.svg, methods over the exact posterior; posterior_variance.svg, their
/// variances over the true one; posterior_heads.svg, the exact posteriors; and
/// posterior_approach.svg, their distances to the Gaussian process. Returns the paths of those that
/// there are: none where nothing was finished, or gnuplot is not there.
std::vector<std::filesystem::path> draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
