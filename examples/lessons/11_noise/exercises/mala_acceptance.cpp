// Exercise 3 of lesson 11 (★★★): Metropolis's correction.
//
// A step that is not small leaves too much variance. The Metropolis-adjusted Langevin algorithm
// takes the step as a proposal x′, and stays at x unless it is accepted. With the probability
//   min(1, p(x′)·q(x | x′)/(p(x)·q(x′ | x)))
// as many chains go from x to x′ as back, so p stays stationary. Here q(x′ | x) is the density with
// which a step from x proposes x′. Write the probability. Hint: q(· | x) is Gaussian; which mean
// and variance does it have? For the way back, q(x | x′), the mean is computed at x′. Work with
// logarithms up to the end; density.score(x) has the fields `value` [M], ln p, and `gradient`
// [M, D].

#include "11_noise/exercises/exercises.h"

using namespace ladon;

Tensor mala_acceptance(const LogDensity& density, const Tensor& x, const Tensor& proposal,
                       double step) {
  lessons::to_do("the acceptance probability of each row");
}
