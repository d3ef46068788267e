#include "02_attention/exercises/exercises.h"

using namespace ladon;

Tensor causal_head(const Tensor& q, const Tensor& k, const Tensor& v) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(1)));
  const Tensor logits = matmul(q, transpose(k)) * scale;  // [T,d_k] · [T,d_k]ᵀ → [T,T]
  const Tensor later = triu(ones_like(logits), 1);        // 1 where the key is after the query
  const Tensor weights = softmax(masked_fill(logits, equal(later, 1), -HUGE_VAL), -1);
  return matmul(weights, v);  // [T,T] · [T,d_v] → [T,d_v]
}
