#pragma once

#include <filesystem>

#include "ladon/examples/posterior/study.h"

namespace ladon::example {

/// Bands of the exact posteriors, of each method over the exact one, and distances over H. An empty
/// path where nothing was finished, or gnuplot is not there.
std::filesystem::path draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
