// Exercise 2 of lesson 9 (★★): the SVGD direction of any kernel.
//
// The lesson's page derives φ(x) = mean_j [k(x_j, x)·∇ln p(x_j) + α·∇_{x_j} k(x_j, x)]. Write −φ at
// every particle, for a kernel that need not be a function of the distance: then it matters with
// respect to which of its two arguments k is differentiated. Hint: visit all pairs; in each, let a
// copy of θ_j require gradients, compute k, and take grad(k, copy). `gradients` are those of −ln p.

#include "09_particles/exercises/exercises.h"

using namespace ladon;

Tensor stein_gradient(const Tensor& theta, const Tensor& gradients, const PairKernel& kernel,
                      double alpha) {
  lessons::to_do("-φ at every particle: the driving and the repulsive force of all pairs");
}
