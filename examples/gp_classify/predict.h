#pragma once
// Classification by Gaussian-process regression, from kernel matrices.

#include <functional>
#include <string>

#include "ladon/core/tensor.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon::example {

/// Kernels of one model: train [N, N], cross [M, N], test [M] (each test input with itself).
struct Kernels {
  Tensor train, cross, test;
};

/// What was chosen without the test set.
struct Choice {
  double noise = 0;      ///< Variance of the noise, in units of the kernel's mean diagonal.
  double amplitude = 0;  ///< Factor of all variances.
  double loo_nll = 0;    ///< Leave-one-out figures on the training set.
  double loo_accuracy = 0;
};

/// How conjugate gradients came out: each mean and variance is within its error of the exact one.
struct Iterated {
  int iterations = 0;  ///< For the targets.
  double mean_error = 0;
  double variance_error = 0;  ///< In units of the kernel's mean diagonal.
};

/// Regression on the training set, and what was chosen for it.
struct Fit {
  GaussianProcess process;
  Choice choice;
};

/// Regression to 1 − 1/C for an input's class and −1/C for the others; the probability of a class
/// is that of its output, with noise, being the largest. Noise (of a grid) and amplitude (by a line
/// search) are those whose leave-one-out probabilities of the training set have the smallest NLL.
/// Calls `after_noise` after each noise of the grid, of which there are noises_tried.
Fit fit(const Kernels& kernels, const Tensor& labels, std::int64_t classes,
        const std::function<void()>& after_noise);
constexpr int noises_tried = 5;

/// "0.001", or "0.0001 (the smallest tried)": beyond the grid's ends a better one may lie.
std::string noise_in_words(double noise);

/// P(class | input) from the posterior's means [M, classes] and variances [M], noise included; f64
/// [M, classes].
Tensor probabilities(const Tensor& mean, const Tensor& variance, double amplitude);

/// Probabilities of the classes of the test inputs, f64 [M, classes].
Tensor predict(const Fit& fit, const Kernels& kernels);

}  // namespace ladon::example
