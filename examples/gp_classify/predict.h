#pragma once
// Classification by Gaussian-process regression: to 1 − 1/C for an input's class and −1/C for the
// others; the probability of a class is that of its output, with noise, being the largest.

#include <functional>

#include "ladon/examples/gp_classify/outcome.h"

namespace ladon::example {

inline constexpr double noises[] = {1e-4, 1e-3, 1e-2, 1e-1, 1};  ///< Those that are tried.

/// Noise and amplitude (by a line search) whose leave-one-out probabilities of the training set
/// have the smallest NLL. Calls `after_noise` after each noise.
Choice choose(const Tensor& kernel, const Tensor& labels, std::int64_t classes,
              const std::function<void()>& after_noise);

/// P(class | input) from the posterior's means [M, classes] and variances [M], noise included; f64
/// [M, classes].
Tensor probabilities(const Tensor& mean, const Tensor& variance, double amplitude);

}  // namespace ladon::example
