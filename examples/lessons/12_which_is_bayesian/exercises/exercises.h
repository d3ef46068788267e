#pragma once
// Exercises of lesson 12: what an ensemble believes, whether it is calibrated, and exact draws.

#include <numbers>

#include "exercise.h"

/// Mean and variance [M] of f at M test inputs.
struct CombinedMembers {
  ladon::Tensor mean, variance;
};

/// 1. What S members believe together, each as likely as another: member s holds f at M test inputs
/// to be N(means[s], variances[s]). Both [S, M].
CombinedMembers combine_members(const ladon::Tensor& means, const ladon::Tensor& variances);
void check_combine_members(decltype(combine_members)* yours);

/// A normal belief about the function's value f at one input, without the noise of a target.
struct BelievedValue {
  double mean = 0, variance = 1;
};

/// 2. Mass that the truth gives to the central interval of a noisy target, f + N(0, noise), which
/// the belief holds to have the mass `level`, in (0, 1).
double central_coverage(const BelievedValue& belief, const BelievedValue& truth, double noise,
                        double level);
void check_central_coverage(decltype(central_coverage)* yours);

/// 3. Weights [members, D] of the model y = Φw + N(0, noise), w ~ N(0, I), with features Φ [N, D]
/// and targets y [N]: each row is the least-squares fit to noisy targets of its own, pulled to a
/// draw of its own from the prior. Independent draws from the posterior.
ladon::Tensor randomized_fits(const ladon::Tensor& features, const ladon::Tensor& y, double noise,
                              std::int64_t members, ladon::Generator& rng);
void check_randomized_fits(decltype(randomized_fits)* yours);
