#include "07_posterior/exercises/exercises.h"

using namespace ladon;

NormalNumber condition_second(const NormalPair& prior, double y, double noise) {
  // Cov(f₂ − c·y, y) = 0 for c = Cov(f₂, y)/Var y, and the noise is independent of f₂.
  const double c = prior.covariance / (prior.first_variance + noise);
  return {prior.second_mean + c * (y - prior.first_mean),
          prior.second_variance - c * prior.covariance};
}
