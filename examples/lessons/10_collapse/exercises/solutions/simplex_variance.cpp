#include "10_collapse/exercises/exercises.h"

using namespace ladon;

double simplex_variance(const RadialProfile& kernel, int particles, int dim, double alpha) {
  const double t = 2 * std::log(particles + 1.0);  // d²/h² of all pairs, by the median rule
  // Forces on θ_i: drive −(1 − κ)·θ_i, repulsion −2κ′·α·M·θ_i/h².
  const double h2 = -2 * kernel.slope(t) * alpha * particles / (1 - kernel.value(t));
  return t * h2 / (2 * dim);  // d² = 2·D·v
}
