#include "05_between/exercises/exercises.h"

using namespace ladon;

Tensor covariance_given_heads(const Tensor& x, const Tensor& forms, double query_key_std) {
  const Tensor tokens = x / std::sqrt(static_cast<double>(x.size(2)));  // Φ [N, T, d]
  // [N, T, d] · [H, 1, d, d] · [N, d, T] → [H, N, T, T]
  const Tensor logits = matmul(matmul(tokens, unsqueeze(forms, 1)), transpose(tokens));
  const Tensor weights = softmax(query_key_std * logits, -1);
  const Tensor k = matmul(unsqueeze(tokens, 1), transpose(unsqueeze(tokens, 0)));  // [N, N, T, T]
  // [H, N, 1, T, T] · [N, N, T, T] · [H, 1, N, T, T] → [H, N, N, T, T]
  return mean(matmul(matmul(unsqueeze(weights, 2), k), transpose(unsqueeze(weights, 1))), 0);
}
