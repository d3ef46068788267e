#include "06_prior/exercises/exercises.h"

using namespace ladon;

Tensor prior_functions(const Tensor& kernel, const Tensor& normals) {
  const std::int64_t n = kernel.size(0);
  const Tensor jitter = 1e-9 * mean(diagonal(kernel)) * eye(n, f64);
  const Tensor root = lapack::cholesky(kernel + jitter);  // L
  return matmul(normals, transpose(root));                // a row is (L·z)ᵀ = zᵀ·Lᵀ
}
