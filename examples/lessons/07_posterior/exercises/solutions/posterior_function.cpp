#include "07_posterior/exercises/exercises.h"

using namespace ladon;

NormalFunction posterior_function(const Tensor& kernel, const Tensor& cross, const Tensor& test,
                                  const Tensor& targets, double noise) {
  const Tensor root = lapack::cholesky(kernel + noise * eye(kernel.size(0), f64));
  const Tensor v = lapack::solve_triangular(root, transpose(cross));       // [N, M]
  const Tensor w = lapack::solve_triangular(root, unsqueeze(targets, 1));  // [N, 1]
  return {flatten(matmul(transpose(v), w)), test - matmul(transpose(v), v)};
}
