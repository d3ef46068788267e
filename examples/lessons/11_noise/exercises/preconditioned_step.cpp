// Exercise 2 of lesson 11 (★★): the preconditioned step.
//
// Backward gives gradients of losses, for a batch of n of the N items. The sampler needs the drift
// P∇ln p of the whole posterior, its prior included, and noise that matches it. Write the step.
// Hint: ln p(x) = Σ_i ln p(y_i | x) − λ|x|²/2 + constant is a sum over all N items, of which the
// batch has n. Noise of covariance 2εP has the standard deviations √(2εP).

#include "11_noise/exercises/exercises.h"

using namespace ladon;

Tensor preconditioned_step(const Tensor& x, const Tensor& gradients,
                           const LangevinSettings& settings, const Tensor& xi) {
  lessons::to_do("x, moved by the drift and the noise of one step");
}
