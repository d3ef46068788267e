#include "14_tangent/exercises/exercises.h"

using namespace ladon;

Tensor trained_covariance(const TangentBlocks& theta, const NngpBlocks& nngp) {
  const Tensor s = transpose(solve(theta.train, transpose(theta.cross)));  // Θ*·Θ⁻¹, Θ symmetric
  const Tensor mixed = matmul(s, transpose(nngp.cross));
  return nngp.test - mixed - transpose(mixed) + matmul(matmul(s, nngp.train), transpose(s));
}
