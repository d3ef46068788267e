// Exercise 1 of lesson 9 (★): a kernel and its repulsion.
//
// Each particle is pushed along the gradient of the kernel with respect to the *other* particle.
// Derive ∇_{θ_j} exp(−‖θ_j − θ_i‖²/(2h²)) by the chain rule; then write h² by the median rule, the
// matrix k, and the repulsion R. Hint: unsqueeze(theta, 1) - unsqueeze(theta, 0) holds all
// differences θ_i − θ_j, as [M, M, D]; k and R follow by sums over its axes. Check the sign with
// two particles on a line: the right one must be pushed to the right.

#include "09_particles/exercises/exercises.h"

using namespace ladon;

RbfForces rbf_forces(const Tensor& theta) {
  lessons::to_do("h² by the median rule, the kernel matrix, and the repulsion");
}
