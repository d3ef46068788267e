#include "13_control/exercises/exercises.h"

using namespace ladon;

double corrected_error(const std::vector<double>& differences, const std::vector<int>& fold) {
  const auto folds = static_cast<std::size_t>(*std::ranges::max_element(fold) + 1);
  const auto j = static_cast<double>(folds), tested = static_cast<double>(fold.size()) / j;
  std::vector<double> of_fold(folds, 0);
  for (std::size_t i = 0; i < fold.size(); ++i) of_fold[fold[i]] += differences[i] / tested;
  double mean = 0, squares = 0;
  for (const double d : of_fold) mean += d / j;
  for (const double d : of_fold) squares += (d - mean) * (d - mean);
  const double trained = tested * (j - 1);
  return std::sqrt((1 / j + tested / trained) * squares / (j - 1));
}
