#include "05_between/exercises/exercises.h"

using namespace ladon;

double density_of_heads(double y, const Tensor& variances) {
  const Tensor v = mean(variances, 1);  // variance of f in each draw
  return mean(exp(-0.5 * y * y / v) / sqrt(2 * std::numbers::pi * v)).item();
}
