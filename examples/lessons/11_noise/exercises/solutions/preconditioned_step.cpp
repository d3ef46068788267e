#include "11_noise/exercises/exercises.h"

using namespace ladon;

Tensor preconditioned_step(const Tensor& x, const Tensor& gradients,
                           const LangevinSettings& settings, const Tensor& xi) {
  const Tensor score = -settings.items * mean(gradients, 0) - settings.prior_precision * x;
  const Tensor p = settings.preconditioner;
  return x + settings.step * p * score + sqrt(2 * settings.step * p) * xi;
}
