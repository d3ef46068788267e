#pragma once
// What the models did on the test set.

#include <optional>
#include <string>
#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/gp_classify/data.h"
#include "ladon/examples/gp_classify/predict.h"
#include "ladon/examples/gp_classify/train.h"

namespace ladon::example {

/// A model in one of its forms, on the test set.
struct Outcome {
  std::string model, form;  ///< Form: "NNGP", "NTK", "finite", or "" for the bar.
  Measured accuracy, nll;   ///< Standard errors from the size of the test set; NaN if it diverged.
  double ece, seconds, peak_mb;
  Tensor probabilities = {};              ///< f64 [test, classes]; undefined if it diverged.
  std::optional<Choice> choice = {};      ///< Of a kernel.
  std::optional<Iterated> iterated = {};  ///< Of a kernel that conjugate gradients solved with.
  std::int64_t parameters = 0;            ///< Of a finite network.
  AttentionMaps attention = {};           ///< Of a finite network that attends to patches.

  std::string method() const { return form.empty() ? model : model + " " + form; }
  bool diverged() const { return !probabilities.defined(); }
};

/// Fills in the figures. Undefined probabilities are those of a network that diverged.
Outcome outcome(const std::string& model, const std::string& form, const Task& task,
                const Tensor& probabilities, double seconds, double megabytes);

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

/// The comparisons as a table and in words, what so many test rows can see, and a line for each
/// network that diverged.
std::string verdict(const Task& task, const std::vector<Outcome>& outcomes);

/// What lies in 95% of cases around a share of right answers found in n rows (Wilson 1927): never
/// empty, and inside [0, 1].
struct Interval {
  double low, high;
};
Interval wilson(double share, double n);

/// Test rows of which the model is about equally sure.
struct CalibrationBin {
  double confidence, right;  ///< Mean probability of the class chosen; share of right answers.
  double rows;
};
/// Ten bins of confidence, without the empty ones.
std::vector<CalibrationBin> calibration(const Outcome& outcome, const Tensor& labels);

/// {"details", "verdict"}: each method's calibration, what was chosen for it and where it looks;
/// the comparisons.
nlohmann::ordered_json details(const Task& task, const std::vector<Outcome>& outcomes);

}  // namespace ladon::example
