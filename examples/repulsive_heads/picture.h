#pragma once
// The example's picture.

#include "ladon/examples/repulsive_heads/results.h"

namespace ladon::example {

/// Draws out/repulsive_heads.svg: similarity of the heads' attention maps before training, after
/// plain training and after the first repulsive method, and the learning curves of all methods
/// (mean over seeds). Every method needs a run, and none that diverged. Returns its path; empty
/// without gnuplot.
std::filesystem::path draw(const Settings& settings, const Outcomes& outcomes);

}  // namespace ladon::example
