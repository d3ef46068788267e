// Exercise 3 of lesson 13 (★★★): many arms, and the smallest p value.
//
// Of twenty arms that do nothing, one has a p value below 1/20 on average. Holm's procedure at a
// level goes through the m p values from the smallest on: the first is compared with level/m, the
// next with level/(m − 1), and so on. It stops at the first p value that is larger: this comparison
// and all after it are not significant. Write, for each comparison, the lowest level at which it is
// significant, at most 1. Hint: sort the indices, not the numbers. A comparison is reached only if
// all comparisons before it are significant, so its level cannot be below their levels.

#include "13_control/exercises/exercises.h"

using namespace ladon;

std::vector<double> holm(const std::vector<double>& p) {
  lessons::to_do("the p values of a family after Holm's procedure, in the order given");
}
