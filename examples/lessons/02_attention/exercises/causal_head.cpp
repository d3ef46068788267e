// Exercise 2 of lesson 2 (★★): one head.
//
// Write the head's output from queries, keys and values: logits, their scale, the causal mask, the
// weights, the mean of values. Take the library's softmax. Hint: note the shape beside each product
// first; row i of the map belongs to query i. A key that may not be seen must leave the softmax's
// sum too. (masked_fill(x, condition, value) sets elements; triu and tril cut a matrix.)

#include "02_attention/exercises/exercises.h"

using namespace ladon;

Tensor causal_head(const Tensor& q, const Tensor& k, const Tensor& v) {
  lessons::to_do("logits, causal mask, weights, and the weighted mean of values");
}
