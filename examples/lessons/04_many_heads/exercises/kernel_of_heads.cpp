// Exercise 3 of lesson 4 (★★★): the kernel of infinitely many heads.
//
// Let X be an input, d the number of its channels, k(n, m) = X_n X_mᵀ/d, and QK = query_key_std, OV
// = value_output_std. A head has queries q_a = W_Q x_a, keys κ_i = W_K x_i and logits G_ai =
// QK/(d√w) q_a·κ_i. Its output at position a is OV Σ_i G_ai v_i, where the v_i have covariances k.
// Derive E[G_ai(n) G_bj(m)]: the weights of queries and keys are independent of each other, and
// both inputs share them. Then sum over the keys i and j with the covariance of v_i and v_j. Hint:
// for N(0, 1) weights, in each channel the queries of tokens x_a and x'_b have E[q_a q'_b] =
// x_a·x'_b.

#include "04_many_heads/exercises/exercises.h"

using namespace ladon;

Tensor kernel_of_heads(const Tensor& x, double query_key_std, double value_output_std) {
  lessons::to_do("the covariances of the outputs, as expectations over one head's logits");
}
