#pragma once
// Comparison of the arms (methods) of an experiment that answered the same questions:
// cross-validation, standard errors over seeds and over questions, correction for several
// comparisons. With --bits FILE.npz a study writes the answers for a new analysis: "ARM/right"
// [seeds, questions], "ARM/probability" [seeds, questions, classes], "labels" and "fold"
// [questions].

#include <cstdint>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::example {

/// One split of a cross-validation: indices of examples, in rising order.
struct Fold {
  std::vector<std::int64_t> train, test;
};

/// k-fold cross-validation of n examples, in random order: every example is tested once, and sizes
/// of test sets differ by at most 1. Throws Error unless 2 ≤ k ≤ n.
std::vector<Fold> folds(std::int64_t n, std::int64_t k, Generator& rng);

/// Splits the training part of a fold once more, for tuning: a `share` of its examples is for
/// testing. Throws Error if either part would be empty.
Fold inner_fold(const Fold& fold, double share, Generator& rng);

/// Difference between the scores of two arms, one score per question (right or wrong, or a
/// log-likelihood) and seed. Its standard errors say how much the difference would vary with other
/// seeds, and how much with other questions.
struct Contrast {
  double difference = 0;  ///< Mean over seeds and questions, arm − base.
  /// Standard error over seeds, with these questions. NaN for one seed.
  double over_seeds = 0;
  /// Standard error over questions, with these training and test sets: an observation is the
  /// difference on one question, averaged over seeds.
  double over_questions = 0;
  /// Standard error of Nadeau and Bengio (2003, eq. 8) over the J fits of all folds and seeds, with
  /// the factor 1/J + n_test/n_train, which allows for overlapping training sets. NaN for one fit.
  double corrected = 0;
  double p = 1;     ///< Two-sided p value of difference/over_questions under N(0, 1).
  double holm = 1;  ///< p after Holm's correction; equals p for a single comparison.
  /// True difference that a test by over_questions at the 5% level finds with a power of 80%,
  /// without a correction for other comparisons.
  double detectable = 0;
};

/// Compares the scores [seeds, questions] of two arms. `folds` give the questions that each fit
/// answered, and how many examples it was trained on. Throws Error if the scores differ in shape,
/// if there are no questions, or if the folds do not test every question exactly once.
Contrast contrast(const Tensor& arm, const Tensor& base, const std::vector<Fold>& folds);

/// Holm's step-down correction (1979) of the p values of a family of comparisons: sets `holm` of
/// each. If hypotheses with holm ≤ α are rejected, the probability of any false rejection is at
/// most α.
void correct(std::vector<Contrast>& family);

}  // namespace ladon::example
