// Exercise 2 of lesson 12 (★★): is a belief calibrated?
//
// A belief gives an interval that should contain the next target with probability 90%, with 5%
// below it and 5% above. How often does it contain the target in truth? Belief and truth are
// normal, so the answer is a difference of two values of Φ(x) = ½(1 + erf(x/√2)), the distribution
// function of N(0, 1). Hint: the half-width in standard deviations is the z with Φ(z) = (1 +
// level)/2; find it by halving [0, 10] sixty times. A target is f plus noise, in the belief and in
// the truth.

#include "12_which_is_bayesian/exercises/exercises.h"

using namespace ladon;

double central_coverage(const BelievedValue& belief, const BelievedValue& truth, double noise,
                        double level) {
  lessons::to_do("the true mass of the belief's central interval for a noisy target");
}
