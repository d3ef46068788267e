#pragma once
// Exercises of lesson 14: the tangent kernel, the mean of training, the spread at its end.

#include <vector>

#include "exercise.h"

/// 1. The tangent kernel of a model with one output, f(x) [N, 1]: entry (i, j) is the inner product
/// of the gradients of f(x_i) and f(x_j) by all parameters. [N, N], f64.
ladon::Tensor tangent_kernel(ladon::Layer& model, const ladon::Tensor& x);
void check_tangent_kernel(decltype(tangent_kernel)* yours);

/// Tangent kernels of training inputs, [N, N], and between test and training inputs, [M, N].
struct TangentBlocks {
  ladon::Tensor train, cross;
};

/// 2. Mean outputs on test inputs, [M, 1], after the time t of gradient flow with this rate on the
/// loss Σ_i (f(x_i) − y_i)²/(2N), for targets y [N, 1]. Networks have mean 0 before training.
ladon::Tensor flow_mean(const TangentBlocks& theta, const ladon::Tensor& y, double rate, double t);
void check_flow_mean(decltype(flow_mean)* yours);

/// 3. Covariance of the test outputs of trained networks over their initializations, at the end of
/// training, [M, M]. `nngp` is the covariance before it: `train` [N, N], `cross` [M, N], `test`
/// [M, M].
ladon::Tensor trained_covariance(const TangentBlocks& theta, const ladon::NngpBlocks& nngp);
void check_trained_covariance(decltype(trained_covariance)* yours);
