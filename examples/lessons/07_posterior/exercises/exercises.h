#pragma once
// Exercises of lesson 7: conditioning of two numbers, of functions, and of draws from a prior.

#include "exercise.h"

/// Normal distribution of two numbers f = (first, second).
struct NormalPair {
  double first_mean, second_mean;
  double first_variance, second_variance, covariance;
};
struct NormalNumber {
  double mean, variance;
};

/// 1. Distribution of the pair's second number, once y = first number + N(0, noise) is known.
NormalNumber condition_second(const NormalPair& prior, double y, double noise);
void check_condition_second(decltype(condition_second)* yours);

/// Normal distribution of a function at M test inputs.
struct NormalFunction {
  ladon::Tensor mean;        ///< [M]
  ladon::Tensor covariance;  ///< [M, M]
};

/// 2. Posterior of f ~ GP(0, K) at M test inputs, without the noise of the targets y = f + N(0,
/// noise) [N]; from K between the N training inputs, `cross` [M, N] and `test` [M, M].
NormalFunction posterior_function(const ladon::Tensor& kernel, const ladon::Tensor& cross,
                                  const ladon::Tensor& test, const ladon::Tensor& targets,
                                  double noise);
void check_posterior_function(decltype(posterior_function)* yours);

/// Posterior estimated by weighted draws from the prior.
struct WeightedPosterior {
  ladon::Tensor mean, variance;  ///< Of f at M inputs, [M].
  double effective_size;         ///< Effective number of draws, from 1 to S.
  double log_evidence;           ///< ln of the mean of p(y | z_s).
};

/// 3. From S draws z_s of the prior: ln p(y | z_s) [S], and the mean and variance of f given y and
/// z_s, [S, M] each.
WeightedPosterior weigh_draws(const ladon::Tensor& log_likelihoods, const ladon::Tensor& means,
                              const ladon::Tensor& variances);
void check_weigh_draws(decltype(weigh_draws)* yours);
