// Exercise 3 of lesson 10 (★★★): a step of SPOS.
//
// θ_i ← θ_i + ε·[φ_i + b·s_i] + noise, with the direction φ of SVGD (lesson 9) and the score s_i =
// −gradient. The noise must balance the drift b·s_i alone: which variance must it have per step, so
// that with φ = 0 the chain keeps the target's variance as ε → 0? Derive it on N(0, 1), where a
// step multiplies θ by 1 − ε·b. Hint: write φ first, by sums over an axis of [M, M, D].

#include "10_collapse/exercises/exercises.h"

using namespace ladon;

Tensor spos_step(const Tensor& theta, const Tensor& gradients, const Tensor& noise,
                 const SposSettings& settings) {
  lessons::to_do("θ after the forces of SVGD, the drift b·s, and the noise");
}
