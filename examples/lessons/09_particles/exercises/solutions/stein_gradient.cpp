#include "09_particles/exercises/exercises.h"

using namespace ladon;

Tensor stein_gradient(const Tensor& theta, const Tensor& gradients, const PairKernel& kernel,
                      double alpha) {
  const std::int64_t m = theta.size(0);
  Tensor rewritten = zeros_like(theta);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      const Tensor x = clone(select(theta, 0, j)).set_requires_grad();
      const Tensor k = kernel(x, select(theta, 0, i));
      const Tensor force = k.detach() * select(gradients, 0, j) - alpha * grad(k, x);
      add_(select(rewritten, 0, i), force, 1 / static_cast<double>(m));
    }
  return rewritten;
}
