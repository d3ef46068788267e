#include <cmath>

#include "07_posterior/exercises/exercises.h"

using namespace ladon;

WeightedPosterior weigh_draws(const Tensor& log_likelihoods, const Tensor& means,
                              const Tensor& variances) {
  const Tensor largest = amax(log_likelihoods);
  const Tensor relative = exp(log_likelihoods - largest);  // at most 1, and one of them is 1
  const Tensor weights = relative / sum(relative);
  const Tensor column = unsqueeze(weights, 1);  // [S, 1] · [S, M] → [S, M]
  const Tensor average = sum(column * means, 0);
  const Tensor within = sum(column * variances, 0);
  const Tensor between = sum(column * square(means - average), 0);
  return {average, within + between, 1 / sum(square(weights)).item(),
          largest.item() + std::log(mean(relative).item())};
}
