#pragma once
// Distribution of one output of a random attention layer at finite width, and its first-order
// correction.
//
// Setting of Sakai, Karakida, Imaizumi 2025 (arXiv 2506.00846): s = 4 tokens x_i = W_i·h of width
// n, with h ~ N(0, I) and entries of W_i ~ N(0, 1/n); heads with queries, keys and values of width
// m; weights of variance 1/(width of their inputs); f = Σ_h head_h/√H. Let C = XXᵀ/n [s, s]. Then:
//   C = ρ·S with ρ = |h|²/n ~ χ²_n/n, and n·S Wishart with n degrees of freedom;
//   given C, the first query is N(0, C₁₁·I), and given this query the first row of logits is
//     ℓ_h ~ N(0, κ_h·C₁₁·C), κ_h = (squared length of the query)/(m·C₁₁) ~ χ²_m/m;
//   given ℓ_h and the output weights o_h the head's output is N(0, r_h·aᵀCa), a = softmax(ℓ_h),
//     r_h = |o_h|² ~ χ²_m/m.
// So f ~ N(0, V) with V = (1/H) Σ_h r_h·a_hᵀCa_h: a scale mixture. Its variance depends on the
// widths only through ξ = (C, κ_h, r_h), which becomes (I, 1, 1) at infinite width.

#include <cstdint>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::example {

constexpr int tokens = 4;  ///< s

struct OneLayer {
  std::int64_t heads = 1;
  std::int64_t width = 0;       ///< n, width of tokens.
  std::int64_t head_width = 0;  ///< m, width of queries, keys and values.
};

/// Draws of V at finite width, and draws of its limit that use the same normal numbers for the
/// logits.
struct Variances {
  Tensor finite, limit;  // [draws]
};
Variances draw_variances(const OneLayer& layer, std::int64_t draws, Generator& rng);

/// Two routes to the coefficients of expand(), by different formulas (README.md derives both). φ is
/// the normal density of variance V, φ_V = ∂φ/∂V.
enum class Route {
  curves,  ///< Differentiates V along each direction: ∂²p/∂z² = E[V''·φ_V + V'²·φ_VV].
  scores  ///< Reweights the logits by w(z): ∂²p/∂z² = E[w''·φ + 2·w'·V'·φ_V + V'²·φ_VV].
};

/// The density p of an output at infinite width, and the coefficients of 1/n (from the tokens) and
/// of 1/m (from the heads) in density = p + c_tokens/n + c_heads/m + O(1/n², 1/m²): [3, points].
/// Each coefficient is ½·Σ ∂²p/∂z² over uncorrelated directions D of ξ = (I, 1, 1) + Σ z·D, where z
/// has variance 1/n or 1/m. Directions of C are √2·I (from ρ), √2·e_i·e_iᵀ and e_i·e_jᵀ + e_j·e_iᵀ;
/// the direction of every κ_h and r_h is √2.
Tensor expand(std::int64_t heads, Route route, const Tensor& grid, std::int64_t draws,
              Generator& rng);

}  // namespace ladon::example
