// Exercise 2 of lesson 14 (★★): the mean of trained networks.
//
// On training inputs the error e = f − y follows e′ = −(rate/N)·Θ·e. In the basis of the
// eigenvectors of Θ these are N separate equations, one per coefficient; f(x*) has the derivative
// −(rate/N)·Θ*·e. Solve the equations, and write the mean of f(x*) at time t. Hint: const auto
// [values, vectors] = lapack::eigh(theta.train) has the eigenvectors as columns; integrate the
// exponential from 0 to t. An eigenvalue may be 0: what is the limit of the integral then?

#include "14_tangent/exercises/exercises.h"

using namespace ladon;

Tensor flow_mean(const TangentBlocks& theta, const Tensor& y, double rate, double t) {
  lessons::to_do("the mean of f(x*) at the time t, by the eigenvectors of theta.train");
}
