#include "10_collapse/exercises/exercises.h"

using namespace ladon;

double coordinate_variance(const Tensor& theta) {
  const Tensor deviations = theta - mean(theta, 0, keep_dims);
  const Tensor variances = sum(square(deviations), 0) / static_cast<double>(theta.size(0) - 1);
  return mean(variances).item();
}
