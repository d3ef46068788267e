#pragma once
// The study: the value of each arm's parameter is chosen on an inner fold, then all arms answer all
// questions. Results as tables and a picture.

#include <filesystem>

#include "ladon/examples/common/report.h"
#include "ladon/examples/repulsive_sentences/fit.h"

namespace ladon::example {

/// Result of an arm, with one value of its parameter, on the inner fold.
struct Tried {
  std::string arm;
  double value, accuracy, nll;
  Fit fit;
  bool chosen = false;
};

/// An arm's answers to all questions, for every finished seed.
struct Answers {
  Arm arm;
  double value;
  std::vector<Tensor> probability = {};      ///< f64 [questions, classes] per seed.
  std::vector<Tensor> right = {}, nll = {};  ///< f64 [questions] per seed.
  std::vector<double> redundancy = {}, size = {}, ratio = {};  ///< An entry per fit.
};

struct Study {
  std::vector<Tried> tried;
  std::vector<Answers> arms;  ///< Plain first; empty before a seed is finished.
  std::vector<Fold> folds;
  std::int64_t seeds = 0;  ///< Number of finished seeds.
  bool interrupted = false;
};

Study run_study(const Sentences& data, const Settings& settings);

/// Tables: values tried; the arms; and their contrasts in two families: each arm minus plain, and
/// svgd minus each arm that makes W_s2 larger without repulsion.
Report report_of(const Study& study);
/// Draws repulsive_sentences.svg to the output folder: answers and maps against the size of W_s2.
/// Returns an empty path if no seed is finished or gnuplot is missing.
std::filesystem::path draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
