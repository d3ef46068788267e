#pragma once
// What the models did on the test set.

#include <optional>
#include <string>
#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/gp_classify/data.h"
#include "ladon/examples/gp_classify/predict.h"

namespace ladon::example {

/// A model in one of its forms, on the test set.
struct Outcome {
  std::string model, form;  ///< Form: "NNGP", "NTK", "finite", or "" for the bar.
  Measured accuracy{0, 0},
      nll{0, 0};  ///< Standard errors from the size of the test set; NaN if it diverged.
  double ece = 0, seconds = 0, peak_mb = 0;
  Tensor probabilities = {};          ///< f64 [test, classes]; undefined if it diverged.
  std::optional<Choice> choice = {};  ///< Of a kernel.
  std::int64_t parameters = 0;        ///< Of a finite network.

  std::string method() const { return form.empty() ? model : model + " " + form; }
  bool diverged() const;
  Row row() const;
};

/// Fills in the figures. Undefined probabilities are those of a network that diverged.
Outcome outcome(const std::string& model, const std::string& form, const Task& task,
                const Tensor& probabilities, double seconds, double megabytes);

/// The accuracy of a kernel with attention less that of a kernel without. The test rows are the
/// same, so the standard error is that of the paired differences.
struct Gain {
  std::string method, against;  ///< The model's name alone in `against`.
  Measured accuracy{0, 0};
};
std::vector<Gain> paired_gains(const Task& task, const std::vector<Outcome>& outcomes);

/// A line for each method in the gains.
std::string verdict(const std::vector<Gain>& gains);

/// Test rows of which the model is about equally sure.
struct CalibrationBin {
  double confidence, right;  ///< Mean probability of the class chosen; share of right answers.
  double rows;
};
/// Ten bins of confidence, without the empty ones.
std::vector<CalibrationBin> calibration(const Outcome& outcome, const Tensor& labels);

/// {"details", "verdict"}: each method's calibration and what was chosen for it; the gains.
nlohmann::ordered_json details(const Task& task, const std::vector<Outcome>& outcomes);

}  // namespace ladon::example
