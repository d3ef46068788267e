#pragma once
// Exercises of lesson 12: the belief of an ensemble, its calibration, and exact posterior draws.

#include <numbers>

#include "exercise.h"

/// Mean and variance [M] of f at M test inputs.
struct CombinedMembers {
  ladon::Tensor mean, variance;
};

/// 1. Predictive distribution (belief) of an ensemble of S equally likely members: according to
/// member s, f at the M test inputs is N(means[s], variances[s]); both tensors are [S, M].
CombinedMembers combine_members(const ladon::Tensor& means, const ladon::Tensor& variances);
void check_combine_members(decltype(combine_members)* yours);

/// A normal distribution (belief) of the function's value f at one input, without the noise of a
/// target.
struct BelievedValue {
  double mean = 0, variance = 1;
};

/// 2. True probability that a noisy target, f + N(0, noise), lies in the central interval for that
/// target whose probability under the belief is `level`, in (0, 1).
double central_coverage(const BelievedValue& belief, const BelievedValue& truth, double noise,
                        double level);
void check_central_coverage(decltype(central_coverage)* yours);

/// 3. Weights [members, D] of the model y = Φw + N(0, noise), w ~ N(0, I), with features Φ [N, D]
/// and targets y [N]. Each row is a least-squares fit to the targets plus new noise, regularized
/// towards a new draw from the prior: the rows are independent draws from the posterior.
ladon::Tensor randomized_fits(const ladon::Tensor& features, const ladon::Tensor& y, double noise,
                              std::int64_t members, ladon::Generator& rng);
void check_randomized_fits(decltype(randomized_fits)* yours);
