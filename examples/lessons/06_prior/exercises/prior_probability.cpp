// Exercise 2 of lesson 6 (★★): a prior's probability of a class.
//
// Each network gives P(y = 1) = σ(f) with σ(f) = 1/(1 + exp(−f)), and over networks f is N(mean,
// variance). What is the mean of σ(f), which is the prior's probability of y = 1, and what is the
// standard deviation of σ(f) over networks? Neither has a closed form. Write both as integrals over
// z ~ N(0, 1), with f a function of z, and compute them by the trapezoidal rule: z from −10 to 10
// in steps of 0.01, each with the weight 0.01·exp(−z²/2)/√(2π). Hint: the standard deviation needs
// E[σ(f)²], or better E[(σ(f) − mean)²], which rounding cannot make negative.

#include "06_prior/exercises/exercises.h"

using namespace ladon;

PriorProbability prior_probability(double mean, double variance) {
  lessons::to_do("mean and standard deviation of P(y = 1) over networks, by a sum over z");
}
