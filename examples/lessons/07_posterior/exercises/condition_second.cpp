// Exercise 1 of lesson 7 (★): condition one number on a noisy target of another.
//
// (f₁, f₂) is normal, and y = f₁ + ε with ε ~ N(0, σ²) is observed. What is f₂ given y? Write f₂ as
// c·(y − E y) plus a remainder that is uncorrelated with y, hence independent of it: that gives c.
// The mean of f₂ given y is then its prior mean plus c·(y − E y), and its variance is that of the
// remainder. The answer is the distribution of f₂ itself, not of a noisy target f₂ + ε.

#include "07_posterior/exercises/exercises.h"

using namespace ladon;

NormalNumber condition_second(const NormalPair& prior, double y, double noise) {
  lessons::to_do("mean and variance of the second number given y");
}
