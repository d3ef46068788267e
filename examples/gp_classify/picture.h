#pragma once
// The example's pictures.

#include <filesystem>
#include <vector>

#include "ladon/examples/gp_classify/results.h"

namespace ladon::example {

/// Draws out/gp_classify.svg: accuracy and NLL of every model in its forms, with 95% intervals, and
/// how often each is right against how sure it is. Returns its path; empty without gnuplot, or
/// where no model was finished.
std::filesystem::path draw_figures(const Settings& settings, const Task& task,
                                   const std::vector<Outcome>& outcomes);

/// Draws out/gp_classify_attention.svg: test images, and where the first finite network that
/// attends to patches looks in them, before and after training. Returns its path; empty without
/// gnuplot, or where there is no such network.
std::filesystem::path draw_attention(const Settings& settings, const Task& task,
                                     const std::vector<Outcome>& outcomes);

}  // namespace ladon::example
