// Exercise 1 of lesson 11 (★): the stationary variance.
//
// A chain is stationary when one more step does not change its variance. Write that as an equation
// for the variance v and solve it, for a Gaussian of any precision and with the noise of a batch in
// the gradient. Hint: x, e and ξ are independent, so the variances of the three terms add up; a
// factor a of a term multiplies its variance by a². From which step size on does v grow without
// bound?

#include "11_noise/exercises/exercises.h"

using namespace ladon;

double langevin_variance(double precision, double step, double batch_variance) {
  lessons::to_do("the variance that a step does not change");
}
