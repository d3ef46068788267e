#pragma once
// The example's pictures.

#include <filesystem>
#include <vector>

#include "ladon/examples/nngp_compare/study.h"

namespace ladon::example {

/// Draws out/nngp_compare.svg, the error of one network against width; nngp_compare_kurtosis.svg,
/// against heads; nngp_compare_density.svg, of outputs for few and many heads;
/// nngp_compare_mean.svg, z-scores of both kernels' entries; and draw_heads()'s picture. A study
/// without head series has the first and the mean's alone. Returns their paths; none without
/// gnuplot, or where an interrupt left nothing to draw.
std::vector<std::filesystem::path> draw(const Settings& settings, const Study& study);

/// Draws out/nngp_compare_heads.svg: outputs at two positions against each other, for few, more and
/// many heads and in the limit. There have to be two positions that vary. Returns its path, or an
/// empty one.
std::filesystem::path draw_heads(const Settings& settings, const Series& series);

}  // namespace ladon::example
