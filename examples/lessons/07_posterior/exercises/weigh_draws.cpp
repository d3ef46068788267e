// Exercise 3 of lesson 7 (★★★): the posterior of few heads, by weights.
//
// With few heads f is a Gaussian process given the heads' latents z; without them it is a mixture
// of Gaussian processes. Bayes' rule gives a draw z_s from the prior the weight w_s = p(y |
// z_s)/Σ_r p(y | z_r). Write (a) these weights from ln p(y | z_s): exp(−800) is 0 on a computer,
// and exp(800) is not finite, yet the weights are finite. Which number may be subtracted from all
// logarithms? (b) The mean and variance of f under the weights: Var f = E[Var(f | z)] + Var(E[f |
// z]). (c) The effective number of draws: S for S equal weights, 1 if one weight is 1 and all
// others are 0; for independent terms of unit variance it is 1/Var(Σ_s w_s·term_s). (d) The log
// evidence: ln of the mean of p(y | z_s).

#include "07_posterior/exercises/exercises.h"

using namespace ladon;

WeightedPosterior weigh_draws(const Tensor& log_likelihoods, const Tensor& means,
                              const Tensor& variances) {
  lessons::to_do("weights of the draws; under them mean, variance, effective number, evidence");
}
