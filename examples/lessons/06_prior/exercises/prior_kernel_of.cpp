// Exercise 3 of lesson 6 (★★★): how a kernel grows with the scale of the network's weights.
//
// This is exercise 3 of lesson 4 with one more step, the mean over tokens: begin from its result.
//
// Without a softmax a head's weights on the keys are the logits themselves, ζ(G) = G. For inputs n
// and m let k_ai = ⟨x_a(n), x_i(m)⟩/d be the kernel of token a of n and token i of m. As in the
// lesson, with infinitely many heads the outputs at tokens a of n and b of m have covariance
//   σ_vo²·Σ_ij E[G_ai(n)·G_bj(m)]·k_ij,
// where the logits are G = σ_qk/(d·√d_k)·(X·W_Q)·(X·W_K)ᵀ, and all elements of W_Q and W_K [d, d_k]
// are independent N(0, 1). Derive E[G_ai(n)·G_bj(m)], and then the kernel of the mean over tokens.
// Hint: W_Q and W_K are independent, so the expectation is a product; only equal columns of W_Q are
// correlated. Which tokens does each k compare? How often does each standard deviation occur?

#include "06_prior/exercises/exercises.h"

using namespace ladon;

Tensor prior_kernel_of(const Tensor& x, double qk, double vo) {
  lessons::to_do("the kernel between all pairs of inputs, of the outputs' means over tokens");
}
