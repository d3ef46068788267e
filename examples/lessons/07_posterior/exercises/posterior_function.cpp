// Exercise 2 of lesson 7 (★★): the posterior of a Gaussian process.
//
// Generalize exercise 1 to N targets and M test inputs. With A = K + σ²·I
//   mean = K*·A⁻¹·y,   covariance = K** − K*·A⁻¹·K*ᵀ,
// where K* = cross and K** = test. Do not invert A: with its Cholesky factor, A = L·Lᵀ, let V =
// L⁻¹·K*ᵀ and w = L⁻¹·y. Write mean and covariance in terms of V and w. Hint: lapack::cholesky(A),
// and lapack::solve_triangular(L, B) for L⁻¹·B with B a matrix; unsqueeze(y, 1) makes y a column.

#include "07_posterior/exercises/exercises.h"

using namespace ladon;

NormalFunction posterior_function(const Tensor& kernel, const Tensor& cross, const Tensor& test,
                                  const Tensor& targets, double noise) {
  lessons::to_do("mean and covariance at the test inputs, by the factor of K + σ²·I");
}
