#pragma once
// Exercises of lesson 14: the tangent kernel, and the mean and covariance of networks after
// training.

#include <vector>

#include "exercise.h"

/// 1. Tangent kernel [N, N], f64, of a model with one output, f(x) [N, 1]: entry (i, j) is the
/// inner product of the gradients of f(x_i) and f(x_j) with respect to all parameters.
ladon::Tensor tangent_kernel(ladon::Layer& model, const ladon::Tensor& x);
void check_tangent_kernel(decltype(tangent_kernel)* yours);

/// Blocks of the tangent kernel Θ: `train` [N, N] between training inputs, and `cross` [M, N]
/// between test and training inputs.
struct TangentBlocks {
  ladon::Tensor train, cross;
};

/// 2. Mean outputs [M, 1] of networks at test inputs, after gradient flow for time t at the
/// learning rate `rate` on the loss Σ_i (f(x_i) − y_i)²/(2N), with targets y [N, 1]. Before
/// training the mean is 0.
ladon::Tensor flow_mean(const TangentBlocks& theta, const ladon::Tensor& y, double rate, double t);
void check_flow_mean(decltype(flow_mean)* yours);

/// 3. Covariance [M, M] of test outputs at the end of training, over the networks' initializations.
/// `nngp` is the covariance before training: `train` [N, N], `cross` [M, N], `test` [M, M].
ladon::Tensor trained_covariance(const TangentBlocks& theta, const ladon::NngpBlocks& nngp);
void check_trained_covariance(decltype(trained_covariance)* yours);
