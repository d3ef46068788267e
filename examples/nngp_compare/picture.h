#pragma once
// The example's picture.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "ladon/examples/nngp_compare/study.h"

namespace ladon::example {

/// Draws out/nngp_compare.svg: the error of one network against width, excess kurtosis against
/// heads, the density of outputs for few and many heads, and the entries of the mean kernels
/// against the limit's. A study without head series has the first and the last. Returns its path;
/// empty without gnuplot.
std::filesystem::path draw(const Settings& settings, const Study& study);

/// What the panels show that no row of the table has: {"density", "entries"}, the histograms of
/// panel (c) and both kernels' entries of panel (d).
nlohmann::ordered_json panels(const Study& study);

}  // namespace ladon::example
