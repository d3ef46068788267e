#pragma once
// Comparison of arms that answered the same questions: folds, errors over seeds and over questions,
// several comparisons at once. A study writes what they are computed from by --bits FILE.npz, so
// that anybody can judge anew: "ARM/right" [seeds, questions], "ARM/probability" [seeds, questions,
// classes], "labels" and "fold" [questions].

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

/// The part of a fold's training examples that tuning may use, split once more: an inner fold of
/// `share` of them for testing. Throws Error where either part would be empty.
Fold inner_fold(const Fold& fold, double share, Generator& rng);

/// Difference of an arm to another, by scores of every question (right or wrong, or a
/// log-likelihood) under every seed, with the answers of the two questions to ask of it: would
/// other seeds say the same, and would other questions?
struct Contrast {
  double difference = 0;  ///< Mean over seeds and questions, arm − base.
  /// Standard error over seeds, the questions being what they are. NaN for one seed.
  double over_seeds = 0;
  /// Standard error over questions: each question's difference, a mean over seeds, is one
  /// observation. Its test sets and training sets are what they are.
  double over_questions = 0;
  /// Standard error of Nadeau and Bengio (2003, eq. 8) over the fits of all folds and seeds, by
  /// the factor 1/J + n_test/n_train: what an overlap of training sets may hide. NaN for one fit.
  double corrected = 0;
  double p = 1;     ///< Two-sided, of difference/over_questions as a standard normal number.
  double holm = 1;  ///< The same after Holm's correction; p where nothing else was compared.
  /// True difference that would be found in four studies of five at 5%, by over_questions, if
  /// nothing else were compared.
  double detectable = 0;
};

/// Of scores [seeds, questions]; `folds` tell which questions were answered by one fit, and how
/// many examples it was trained on. Throws Error for scores of different shapes, no questions, or
/// folds that do not test every question once.
Contrast contrast(const Tensor& arm, const Tensor& base, const std::vector<Fold>& folds);

/// Holm's step-down correction (1979) of the p-values of a family of comparisons: sets `holm` of
/// each, at which the chance of any false discovery is at most as large.
void correct(std::vector<Contrast>& family);

}  // namespace ladon::example
