#pragma once
// Exercises of lesson 7: conditioning a pair of numbers, a function, and draws from a prior on
// data.

#include "exercise.h"

/// Normal distribution of two numbers f = (first, second).
struct NormalPair {
  double first_mean, second_mean;
  double first_variance, second_variance, covariance;
};
struct NormalNumber {
  double mean, variance;
};

/// 1. Distribution of the second number of the pair, given y = first number + N(0, noise).
NormalNumber condition_second(const NormalPair& prior, double y, double noise);
void check_condition_second(decltype(condition_second)* yours);

/// Normal distribution of a function at M test inputs.
struct NormalFunction {
  ladon::Tensor mean;        ///< [M]
  ladon::Tensor covariance;  ///< [M, M]
};

/// 2. Posterior of f ~ GP(0, K) at M test inputs, given `targets` [N], y = f + N(0, noise) at N
/// training inputs. The posterior is of f itself, without noise. `kernel` [N, N] is K between the
/// training inputs, `cross` [M, N] between test and training inputs, `test` [M, M] between the test
/// inputs.
NormalFunction posterior_function(const ladon::Tensor& kernel, const ladon::Tensor& cross,
                                  const ladon::Tensor& test, const ladon::Tensor& targets,
                                  double noise);
void check_posterior_function(decltype(posterior_function)* yours);

/// Posterior estimated by S weighted draws z_s from the prior.
struct WeightedPosterior {
  ladon::Tensor mean, variance;  ///< Mean and variance of f at M inputs, [M] each.
  double effective_size;         ///< Effective number of draws, from 1 to S.
  double log_evidence;           ///< ln of the mean of p(y | z_s).
};

/// 3. The posterior from S draws z_s of the prior: from their log likelihoods ln p(y | z_s) [S],
/// and the means and variances of f given y and z_s, [S, M] each.
WeightedPosterior weigh_draws(const ladon::Tensor& log_likelihoods, const ladon::Tensor& means,
                              const ladon::Tensor& variances);
void check_weigh_draws(decltype(weigh_draws)* yours);
