#include "12_which_is_bayesian/exercises/exercises.h"

using namespace ladon;

Tensor randomized_fits(const Tensor& features, const Tensor& y, double noise, std::int64_t members,
                       Generator& rng) {
  const std::int64_t n = features.size(0), dim = features.size(1);
  const Tensor start = normal({members, dim}, rng, f64);
  const Tensor targets = y + normal({members, n}, rng, 0, std::sqrt(noise), f64);
  const Tensor residuals = targets - matmul(start, transpose(features));  // [members, N]
  const Tensor a = matmul(features, transpose(features)) + noise * eye(n, f64);
  return start + matmul(transpose(solve(a, transpose(residuals))), features);
}
