#pragma once
// The study: every arm's number is chosen on an inner fold; then all arms answer all questions.
// Its results as tables and a picture.

#include <filesystem>

#include "ladon/examples/common/report.h"
#include "ladon/examples/repulsive_sentences/fit.h"

namespace ladon::example {

/// A value of an arm's number on the inner fold.
struct Tried {
  std::string arm;
  double value, accuracy, nll;
  Fit fit;
  bool chosen = false;
};

/// An arm's answers to all questions, under every finished seed.
struct Answers {
  Arm arm;
  double value;
  std::vector<Tensor> probability = {};      ///< f64 [questions, classes] per seed.
  std::vector<Tensor> right = {}, nll = {};  ///< f64 [questions] per seed.
  std::vector<double> redundancy = {}, size = {}, ratio = {};  ///< An entry per fit.
};

struct Study {
  std::vector<Tried> tried;
  std::vector<Answers> arms;  ///< Plain first; none unless a seed is finished.
  std::vector<Fold> folds;
  std::int64_t seeds = 0;  ///< That are finished.
  bool interrupted = false;
};

Study run_study(const Sentences& data, const Settings& settings);

/// Tables: numbers tried, the arms, and their contrasts, each arm less plain, then svgd less the
/// arms that change W_s2 otherwise: two families.
Report report_of(const Study& study);
/// Draws out/repulsive_sentences.svg, answers and maps against the size of W_s2; an empty path
/// where no seed was finished, or gnuplot is not there.
std::filesystem::path draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
