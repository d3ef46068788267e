#pragma once
// Exercises of lesson 4: a sum of heads, its kurtosis, and the kernel of infinitely many.

#include <vector>

#include "exercise.h"

/// 1. Output of a layer from the contexts of its H heads, weights times values: [H, N, w], and the
/// output weights of each, N(0, 1) numbers [H, w, out]. The result, [N, out], has a variance that
/// depends neither on the number of heads nor on their width w.
ladon::Tensor combine_heads(const ladon::Tensor& contexts, const ladon::Tensor& output);
void check_combine_heads(decltype(combine_heads)* yours);

/// Moments of the output f of one head, whose law is symmetric about 0.
struct HeadOutput {
  double second;  ///< E f²
  double fourth;  ///< E f⁴
};

/// 2. Excess kurtosis E f⁴/(E f²)² − 3 of f = (f_1 + … + f_H)/√H, the f_h being independent, each
/// of its own law.
double kurtosis_of_sum(const std::vector<HeadOutput>& heads);
void check_kurtosis_of_sum(decltype(kurtosis_of_sum)* yours);

/// 3. Covariances of the outputs of infinitely many heads with square-root scaling and ζ(G) = G,
/// queries and keys being independent: [N, N, T, T], of output a of input n and b of m at [n, m, a,
/// b], for inputs x [N, T, d], in ntk parameterization: all weights are N(0, 1), and the factors
/// query_key_std, value_output_std, 1/√d and 1/√w stand where the weights are used.
ladon::Tensor kernel_of_heads(const ladon::Tensor& x, double query_key_std,
                              double value_output_std);
void check_kernel_of_heads(decltype(kernel_of_heads)* yours);
