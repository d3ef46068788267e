#pragma once
// The example's pictures. Each is drawn into out/, and its path returned; empty without gnuplot, or
// where there is nothing to draw.

#include <filesystem>
#include <vector>

#include "ladon/examples/gp_classify/results.h"

namespace ladon::example {

/// gp_classify.svg: accuracy and NLL of every model in its forms, with 95% intervals.
std::filesystem::path draw_figures(const Settings& settings, const Task& task,
                                   const std::vector<Outcome>& outcomes);

/// gp_classify_calibration.svg: how often every model is right against how sure it is, with
/// --panels: so few test rows show little more than noise.
std::filesystem::path draw_calibration(const Settings& settings, const Task& task,
                                       const std::vector<Outcome>& outcomes);

/// gp_classify_attention.svg: a test image, and where the first finite network that attends to
/// patches looks in it, before and after training; others with --panels.
std::filesystem::path draw_attention(const Settings& settings, const Task& task,
                                     const std::vector<Outcome>& outcomes);

}  // namespace ladon::example
