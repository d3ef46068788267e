#include "03_one_head/exercises/exercises.h"

using namespace ladon;

Tensor wide_head_kernel(const Tensor& x, const Tensor& y, int draws, Generator& rng) {
  const auto d = static_cast<double>(x.size(1));
  // With Q = W_Q/√d and K = W_K/√d, W_Q·W_Kᵀ/√width tends to a matrix of independent N(0, 1).
  const Tensor b = normal({draws, x.size(1), x.size(1)}, rng, f64);
  const auto maps = [&](const Tensor& tokens) {  // [T,d] · [draws,d,d] · [T,d]ᵀ → [draws,T,T]
    return softmax(matmul(matmul(tokens, b), transpose(tokens)) / d);
  };
  const Tensor values = matmul(x, transpose(y)) / d;
  return mean(matmul(matmul(maps(x), values), transpose(maps(y))), 0);
}
