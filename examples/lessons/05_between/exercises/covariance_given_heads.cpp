// Exercise 3 of lesson 5 (★★★): the covariance of a layer whose logits are given.
//
// One small matrix B_h per head makes the logits of every input: G_h(n) = QK·Φ_n·B_h·Φ_nᵀ. Given
// these, head h weights values of covariance k(n, m) = Φ_n·Φ_mᵀ by A_h(n) = softmax(G_h(n)). Derive
// the covariance of its outputs at positions a of input n and b of m. The heads have independent
// values and a common factor 1/√H: what is the covariance of their sum? This is K_z: with random
// B_h the outputs at all inputs are a mixture of Gaussians N(0, K_z). Hint: matmul broadcasts; with
// unsqueeze, [H, N, 1, T, T] · [N, N, T, T] → [H, N, N, T, T].

#include "05_between/exercises/exercises.h"

using namespace ladon;

Tensor covariance_given_heads(const Tensor& x, const Tensor& forms, double query_key_std) {
  lessons::to_do("the mean over heads of A_h(n)·k(n, m)·A_h(m)ᵀ");
}
