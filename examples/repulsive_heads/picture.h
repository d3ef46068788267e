#pragma once
// The example's pictures.

#include <filesystem>
#include <vector>

#include "ladon/examples/repulsive_heads/results.h"

namespace ladon::example {

/// Draws out/repulsive_heads.svg, what each method changed against plain: mean differences with 95%
/// intervals, by themselves and corrected for all comparisons; and, of the seed in the middle by
/// how many heads lead a rule, before training, after plain training and after the first method
/// that repels: out/repulsive_heads_maps.svg, which head attends to the right token of which rule,
/// where that is known; and out/repulsive_heads_alike.svg, how alike the heads' attention maps are.
/// Every method needs a run, and none that diverged. Without plain there is no first picture, with
/// one head no other. Returns their paths; none without gnuplot.
std::vector<std::filesystem::path> draw(const Settings& settings, const Task& task,
                                        const Outcomes& outcomes);

}  // namespace ladon::example
