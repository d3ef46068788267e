#pragma once
// Exercises of lesson 4: a sum of heads, its kurtosis, and the kernel of infinitely many heads.

#include <vector>

#include "exercise.h"

/// 1. Output [N, out] of a layer at N tokens, from the contexts (attention weights times values) of
/// its H heads, [H, N, w], and the output weights of each head, N(0, 1) numbers [H, w, out]. The
/// output must be scaled such that its variance depends neither on the number of heads nor on their
/// width w.
ladon::Tensor combine_heads(const ladon::Tensor& contexts, const ladon::Tensor& output);
void check_combine_heads(decltype(combine_heads)* yours);

/// Moments of the output f of one head. Its distribution is symmetric about 0.
struct HeadOutput {
  double second;  ///< E f²
  double fourth;  ///< E f⁴
};

/// 2. Excess kurtosis E f⁴/(E f²)² − 3 of f = (f_1 + … + f_H)/√H. The f_h are independent, and may
/// have different distributions.
double kurtosis_of_sum(const std::vector<HeadOutput>& heads);
void check_kurtosis_of_sum(decltype(kurtosis_of_sum)* yours);

/// 3. Covariances [N, N, T, T] of the outputs of infinitely many heads for N inputs x [N, T, d] of
/// T tokens: entry [n, m, a, b] is that of the output at token a of input n and the output at token
/// b of input m. The heads have square-root scaling, the logits as attention weights (ζ(G) = G),
/// and independent queries and keys. The parameterization is ntk: all weights are N(0, 1), and the
/// factors query_key_std, value_output_std, 1/√d and 1/√w multiply them where they are used.
ladon::Tensor kernel_of_heads(const ladon::Tensor& x, double query_key_std,
                              double value_output_std);
void check_kernel_of_heads(decltype(kernel_of_heads)* yours);
