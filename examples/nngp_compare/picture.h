#pragma once
// The example's picture.

#include <filesystem>

#include "ladon/examples/nngp_compare/study.h"

namespace ladon::example {

/// Draws out/nngp_compare.svg: the error of one network against width, excess kurtosis against
/// heads, the density of outputs for few and many heads, and the entries of the mean kernels
/// against the limit's. A study without head series has the first and the last. Returns its path;
/// empty without gnuplot.
std::filesystem::path draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
