#include "06_prior/exercises/exercises.h"

using namespace ladon;

Tensor prior_kernel_of(const Tensor& x, double qk, double vo) {
  const std::int64_t n = x.size(0), t = x.size(1), d = x.size(2);
  const Tensor tokens = reshape(x, {n * t, d});
  const Tensor k =
      reshape(matmul(tokens, transpose(tokens)) / static_cast<double>(d), {n, t, n, t});
  // E[G_ai·G_bj] = σ_qk²·k_ab·k_ij, so the kernel is σ_qk²·σ_vo² times the mean of k_ab over a and
  // b, times Σ_ij k_ij².
  return qk * qk * vo * vo * mean(k, {1, 3}) * sum(square(k), {1, 3});
}
