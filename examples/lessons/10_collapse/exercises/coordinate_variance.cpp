// Exercise 1 of lesson 10 (★): variance per coordinate.
//
// The variance per coordinate shows whether particles collapse, so it must be computed correctly:
// deviations from which mean, divided by which number, over which axis? Hint: the mean of M
// particles is computed from the particles themselves, so their squared deviations from it sum to
// (M − 1)·σ² on average.

#include "10_collapse/exercises/exercises.h"

using namespace ladon;

double coordinate_variance(const Tensor& theta) {
  lessons::to_do("the variance of each coordinate over the particles, and the mean of these");
}
