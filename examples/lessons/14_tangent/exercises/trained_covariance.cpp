// Exercise 3 of lesson 14 (★★★): the covariance of trained networks.
//
// At the end of training f(x*) = f₀(x*) + Θ*·Θ⁻¹·(y − f₀(X)), where f₀ is the network before
// training: Gaussian, with covariances nngp.test, nngp.cross and nngp.train. What is random here?
// Write the covariance of f(x*). Hint: f(x*) is linear in f₀; with S = Θ*·Θ⁻¹ it has four terms, of
// which two are each other's transpose. solve(a, b) is a⁻¹·b.

#include "14_tangent/exercises/exercises.h"

using namespace ladon;

Tensor trained_covariance(const TangentBlocks& theta, const NngpBlocks& nngp) {
  lessons::to_do("the covariance of f₀(x*) − S·f₀(X)");
}
