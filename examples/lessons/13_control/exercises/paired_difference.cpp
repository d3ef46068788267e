// Exercise 1 of lesson 13 (★): a difference, question by question.
//
// Two arms answered the same questions. Hard questions are hard for both, so the two accuracies go
// up and down together from one set of questions to the next, and their difference varies less than
// either. A standard error that treats the arms as independent ignores this. Write the difference
// with its standard error over questions. Hint: there is one difference per question; what is the
// standard error of a mean of n independent numbers whose variance is estimated from them, too?

#include "13_control/exercises/exercises.h"

using namespace ladon;

Measured paired_difference(const std::vector<double>& arm, const std::vector<double>& base) {
  lessons::to_do("the mean difference of two arms, and its standard error over questions");
}
