#pragma once
// Exercises of lesson 6: functions drawn from a kernel, a prior's probability of a class, and the
// kernel of attention without a softmax.

#include "exercise.h"

/// 1. S functions at N inputs, [S, N], one per row of `normals` [S, N], whose elements are
/// independent draws of N(0, 1). Each function must be a draw from N(0, kernel); the kernel [N, N]
/// may be singular.
ladon::Tensor prior_functions(const ladon::Tensor& kernel, const ladon::Tensor& normals);
void check_prior_functions(decltype(prior_functions)* yours);

/// Mean and standard deviation, over networks drawn from a prior, of the probability that a network
/// gives to class 1.
struct PriorProbability {
  double mean, sd;
};

/// 2. Mean and standard deviation of P(y = 1) = 1/(1 + exp(−f)), where the logit f is N(mean,
/// variance) under the prior; to six digits.
PriorProbability prior_probability(double mean, double variance);
void check_prior_probability(decltype(prior_probability)* yours);

/// 3. Kernel [N, N] (covariances of the outputs) of attention with infinitely many heads and
/// without a softmax (ζ(G) = G), followed by the mean over positions, for N inputs x [N, T, d] and
/// the standard deviations σ_qk = qk of queries and keys and σ_vo = vo of values and output.
ladon::Tensor prior_kernel_of(const ladon::Tensor& x, double qk, double vo);
void check_prior_kernel_of(decltype(prior_kernel_of)* yours);
