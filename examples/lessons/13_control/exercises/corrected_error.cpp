// Exercise 2 of lesson 13 (★★): what an overlap of training sets hides.
//
// The J fits of a cross-validation share most of their training data, so that the differences of
// the folds go up and down together from one data set to the next. Their scatter within one study
// does not show this. Nadeau and Bengio take n_test/(n_train + n_test) for the correlation of two
// folds. Write the standard error that follows. Hint: the page derives it, by the variance of a
// mean of correlated numbers, over the mean of their sample variance. How many questions does a fit
// train on, and on how many is it tested?

#include "13_control/exercises/exercises.h"

using namespace ladon;

double corrected_error(const std::vector<double>& differences, const std::vector<int>& fold) {
  lessons::to_do("the error of a mean difference over folds whose training sets overlap");
}
