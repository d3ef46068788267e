// Exercise 1 of lesson 10 (★): variance per coordinate.
//
// Whether particles collapse is told by one number, so it has to be the right one: around which
// mean, divided by what, over which axis? Hint: the mean of M particles is itself taken from them,
// so that their squared deviations from it have the mean (M − 1)·σ².

#include "10_collapse/exercises/exercises.h"

using namespace ladon;

double coordinate_variance(const Tensor& theta) {
  lessons::to_do("the variance of each coordinate over the particles, and the mean of these");
}
