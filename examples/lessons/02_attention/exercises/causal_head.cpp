// Exercise 2 of lesson 2 (★★): one head.
//
// Write the head's output from queries, keys and values: logits, their scale, the causal mask, the
// weights, the mean of values. Use the library's softmax. Hint: first note the shape next to each
// product; row i of the map belongs to query i. A masked key must not count in the softmax's sum
// either. (masked_fill(x, condition, value) sets elements; triu and tril keep a triangle.)

#include "02_attention/exercises/exercises.h"

using namespace ladon;

Tensor causal_head(const Tensor& q, const Tensor& k, const Tensor& v) {
  lessons::to_do("logits, causal mask, weights, and the weighted mean of values");
}
