#pragma once
// Results of the models on the test set.

#include <string>
#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/gp_classify/data.h"

namespace ladon::example {

/// Standard errors are from the size of the test set; all NaN if it diverged.
struct Figures {
  Measured accuracy, nll;
  double ece;
};
Figures figures(const Outcome& outcome, const Task& task);

/// A row for each outcome. Columns beside those of every run are the solver's.
Table table_of(const Task& task, const Settings& settings, const std::vector<Outcome>& outcomes);

/// The accuracy of one method less that of another, row by row of the test set.
struct Comparison {
  std::string method, against;  ///< In `against` a form is named where it is not the method's.
  Difference judged;
};

/// Kernels with attention against those without and against the bar; finite networks with attention
/// against the kernels of their own limit. Decisions are corrected for all of these comparisons.
std::vector<Comparison> comparisons(const Task& task, const std::vector<Outcome>& outcomes);

/// The comparisons as a table, what so many test rows can see, and a line for each network that
/// diverged.
std::string verdict(const Task& task, const std::vector<Outcome>& outcomes,
                    const std::vector<Comparison>& all);

/// 95% interval around a share of right answers found in n rows (Wilson 1927): never
/// empty, and inside [0, 1].
struct Interval {
  double low, high;
};
Interval wilson(double share, double n);

/// Test rows of which the model is about equally sure.
struct CalibrationBin {
  double confidence, right;  ///< Mean probability of the class chosen; share of right answers.
  double rows;
  Interval range;  ///< Of the share.
};
/// Ten bins of confidence, without the empty ones.
std::vector<CalibrationBin> calibration(const Outcome& outcome, const Task& task);

/// The attention on a shown image's patches, row by row.
std::vector<std::vector<double>> map_rows(const Tensor& maps, std::int64_t image);

/// {"details", "verdict"}: each method's calibration, what was chosen for it and where it looks;
/// the comparisons.
nlohmann::ordered_json details(const Task& task, const std::vector<Outcome>& outcomes,
                               const std::vector<Comparison>& all);

}  // namespace ladon::example
