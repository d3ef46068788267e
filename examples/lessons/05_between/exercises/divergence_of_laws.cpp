// Exercise 2 of lesson 5 (★★): how far is one distribution from another?
//
// The divergence KL(p‖q) = ∫ p ln(p/q) is the loss in log density per observation for someone who
// predicts with q observations that are drawn from p. With two densities in closed form it needs no
// draws, only an integral over y. Write this integral. Hint: both densities are even, and smooth on
// the scale of their smallest standard deviation: a sum over points that are closer together than
// that is very accurate. Think about how far out p still counts, and what happens where q is so
// small that a computer rounds it to 0.

#include "05_between/exercises/exercises.h"

using namespace ladon;

double divergence_of_laws(const infinite::ScaleMixture& p, const infinite::ScaleMixture& q) {
  lessons::to_do("the integral of p ln(p/q)");
}
