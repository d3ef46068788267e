// Exercise 3 of lesson 15 (★★★): the force that data exert on a pair of paths.
//
// U_pq enters S through K, and through the prior. Write the matrix of ∂S/∂U_pq. Hint: for A = K +
// σ²·I and the derivative ∂ with respect to any U_pq, ∂ ln det A = tr(A⁻¹ ∂A) and ∂A⁻¹ = −A⁻¹ ∂A
// A⁻¹; with α = A⁻¹y the part of the data is the sum of all elements of (A⁻¹ − ααᵀ)∘C_pq, over P.
// Which matrix is the gradient of ln det U? Where the gradient of S is 0, U is the most likely
// order parameter, given the readout (|a|² = N).

#include "15_paths/exercises/exercises.h"

using namespace ladon;

Tensor overlap_slope(const PathData& data, const Tensor& u) {
  lessons::to_do("[tr(A⁻¹C_pq) − αᵀC_pq α]/P for each pair, and the prior's part");
}
