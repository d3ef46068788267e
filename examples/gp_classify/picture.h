#pragma once
// The example's picture.

#include <string>
#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/gp_classify/data.h"

namespace ladon::example {

/// A model in one of its forms, on the test set.
struct Outcome {
  std::string model, form;  ///< Form: "NNGP", "NTK", "finite", or "" for the bar.
  Estimate accuracy, nll;   ///< Standard errors from the size of the test set.
  double ece, seconds, peak_mb;
  Tensor probabilities;  ///< f64 [test, classes]

  Row row() const;
};

/// Draws out/gp_classify.svg: accuracies and NLLs of all methods as bars, and how often each is
/// right against how sure it is. Returns its path; empty without gnuplot.
std::filesystem::path draw(const Settings& settings, const Task& task,
                           const std::vector<Outcome>& outcomes);

}  // namespace ladon::example
