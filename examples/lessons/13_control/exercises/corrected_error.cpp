// Exercise 2 of lesson 13 (★★): the error when training sets overlap.
//
// The J fits of a cross-validation share most of their training data, so the mean differences of
// the folds are correlated: they go up and down together from one data set to the next. Their
// variance within one study does not show this. Nadeau and Bengio assume the correlation
// n_test/(n_train + n_test) between two folds. Write the standard error that follows. Hint: the
// lesson's page derives it from the variance of a mean of correlated numbers, divided by the
// expectation of their sample variance. On how many questions is a fit trained, and on how many is
// it tested?

#include "13_control/exercises/exercises.h"

using namespace ladon;

double corrected_error(const std::vector<double>& differences, const std::vector<int>& fold) {
  lessons::to_do("the error of a mean difference over folds whose training sets overlap");
}
