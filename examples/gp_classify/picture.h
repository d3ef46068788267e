#pragma once
// The example's picture.

#include <filesystem>
#include <vector>

#include "ladon/examples/gp_classify/results.h"

namespace ladon::example {

/// Draws out/gp_classify.svg: accuracies and NLLs of all methods as bars, and how often each is
/// right against how sure it is. Returns its path; empty without gnuplot.
std::filesystem::path draw(const Settings& settings, const Task& task,
                           const std::vector<Outcome>& outcomes);

}  // namespace ladon::example
