// Exercise 2 of lesson 10 (★★): the collapse for any radial kernel.
//
// The lesson's page solves this for the RBF kernel, κ(t) = exp(−t/2). Solve it for any κ: all pairs
// have the same distance d, and the median rule fixes t = d²/h²; differentiate κ(‖θ_j − θ_i‖²/h²)
// with respect to θ_j; use Σ_j θ_j = 0 in both forces; solve for h², and go from d² = t·h² to the
// variance per coordinate. Hint: four lines.

#include "10_collapse/exercises/exercises.h"

using namespace ladon;

double simplex_variance(const RadialProfile& kernel, int particles, int dim, double alpha) {
  lessons::to_do("h² from the balance of the forces, and from it the variance per coordinate");
}
