#include "12_which_is_bayesian/exercises/exercises.h"

using namespace ladon;

CombinedMembers combine_members(const Tensor& means, const Tensor& variances) {
  const Tensor together = mean(means, 0);
  return {together, mean(variances, 0) + mean(square(means - together), 0)};
}
