// Exercise 1 of lesson 5 (★): the density of finitely many heads.
//
// Given the logits of all heads, their sum is a sum of independent Gaussians: which variance does f
// = (f_1 + … + f_H)/√H have? The logits are not given, but drawn, so the density of f is an
// expectation over draws. Write its estimate, a mean over the rows of `variances`. Hint: the
// variance v occurs twice in the Gaussian density N(y; 0, v). mean(x, 1) is the mean over heads.

#include "05_between/exercises/exercises.h"

using namespace ladon;

double density_of_heads(double y, const Tensor& variances) {
  lessons::to_do("the mean over draws of the Gaussian density of the heads' sum");
}
