#pragma once
// The study: every arm's number is chosen on inner folds; then all arms answer all questions.

#include "ladon/core/measured.h"
#include "ladon/examples/repulsive_sentences/fit.h"

namespace ladon::example {

/// A value of an arm's number on the inner folds.
struct Tried {
  std::string arm;
  double value;
  double accuracy = 0, nll = 0, size = 0, redundancy = 0;  ///< Means over trials.
  bool chosen = false;
};

/// An arm's answers to all questions, under every seed.
struct Answers {
  Arm arm;
  double value;
  Tensor right, log_likelihood;                 ///< f64 [seeds, questions]
  Tensor probability;                           ///< f64 [seeds, questions, classes]
  std::vector<double> redundancy, size, ratio;  ///< An entry per fit.
};

struct Study {
  std::vector<Tried> tried;
  std::vector<Answers> arms;  ///< Plain first; empty unless one seed is finished.
  std::vector<Fold> folds;
  std::int64_t seeds = 0;  ///< That are finished.
  bool interrupted = false;
};

Study run_study(const Sentences& data, const Settings& settings);

}  // namespace ladon::example
