#pragma once
// Comparison of arms that answered the same questions: folds, errors over seeds and over questions,
// several comparisons at once. With --bits FILE.npz a study writes the underlying answers, so that
// anybody can analyse them anew: "ARM/right" [seeds, questions], "ARM/probability" [seeds,
// questions, classes], "labels" and "fold" [questions].

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

/// Difference between two arms, from scores of every question (right or wrong, or a log-likelihood)
/// under every seed. Its two errors answer two questions: would other seeds give the same result,
/// and would other questions?
struct Contrast {
  double difference = 0;  ///< Mean over seeds and questions, arm − base.
  /// Standard error over seeds, for these questions. NaN for one seed.
  double over_seeds = 0;
  /// Standard error over questions, for these training and test sets: an observation is one
  /// question's difference, averaged over seeds.
  double over_questions = 0;
  /// Standard error of Nadeau and Bengio (2003, eq. 8) over the fits of all folds and seeds, with
  /// the factor 1/J + n_test/n_train, which allows for overlapping training sets. NaN for one fit.
  double corrected = 0;
  double p = 1;     ///< Two-sided p value of difference/over_questions as N(0, 1).
  double holm = 1;  ///< p after Holm's correction; equals p for a single comparison.
  /// True difference that four studies of five would find at the 5% level, by over_questions, if
  /// nothing else were compared.
  double detectable = 0;
};

/// Compares scores [seeds, questions]. `folds` give the questions that each fit answered, and how
/// many examples it was trained on. Throws Error for scores of different shapes, no questions, or
/// folds that do not test every question once.
Contrast contrast(const Tensor& arm, const Tensor& base, const std::vector<Fold>& folds);

/// Holm's step-down correction (1979) of the p values of a family of comparisons: sets `holm` of
/// each. Rejecting those with holm ≤ α keeps the chance of any false discovery at most α.
void correct(std::vector<Contrast>& family);

}  // namespace ladon::example
