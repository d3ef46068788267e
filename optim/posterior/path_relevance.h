#pragma once
// Relevance of paths through a stack of attention layers whose maps are given.
//
// Tokens are embedded to a width by a Linear without bias, pass L layers of H_ℓ heads with fixed
// maps, and are read by a linear readout. A path π = (h_1, …, h_L) takes one head a layer; ξ_π is
// the input after its maps, and C_ππ′(n, m) = ⟨ξ_π(n), ξ_π′(m)⟩/d. At widths N_ℓ, which layer ℓ
// reads, and N_a of the readout, the kernel is exactly
//   K = Σ_ππ′ U_1,ππ′·C_ππ′/Π_ℓ H_ℓ,   u = |a|²/N_a,
//   U_L | u ~ u·Wishart(1, N_L)/N_L,   U_ℓ | U_ℓ+1 ~ Wishart(1_{H_ℓ} ⊗ U_ℓ+1, N_ℓ)/N_ℓ,
// with h_ℓ the outer index of U_ℓ. E U = 1: the Gaussian process. Unlike in a layer on inputs as
// they are (relevance.h), paths are correlated, since all heads read one embedding.
// (Tiberi, Mignacco, Irie and Sompolinsky 2024, arXiv 2405.15926; the exact Wishart chain is
// Ladon's reference's, the saddle their order parameter.)

#include <cstdint>
#include <vector>

#include "ladon/layers/infinite/finite/latent_kernel.h"

namespace ladon {

struct PathOptions {
  std::vector<std::int64_t> heads;   ///< H_1, …, H_L
  std::vector<std::int64_t> widths;  ///< N_1, …, N_L, each at least the number of its U's rows.
  std::int64_t readout = 0;          ///< N_a
};

/// That kernel as a function of normal numbers, for sample_posterior. `paths` is C, f64 [Π, Π, N,
/// N], paths numbered with h_1 outermost, training inputs first. Throws Error where C is no such
/// block, symmetric under (π, n) ↔ (π′, m) and finite, and for sizes out of range.
infinite::LatentKernel path_kernel(const Tensor& paths, const PathOptions& options);

/// U_1 of rows z of that kernel: [S, Π, Π].
Tensor path_order(const Tensor& latents, const PathOptions& options);

struct PathSaddle {
  std::vector<Tensor> order;  ///< U_1, …, U_L
  double readout = 1;         ///< u
  std::int64_t iterations = 0;
  double gradient = 0;  ///< Largest |U·∂S/∂U|/N at the end: below 1e-8 where it converged.
};

/// Where
///   S = ln det(K + σ²) + yᵀ(K + σ²)⁻¹y + N_a(u − ln u)
///     + Σ_ℓ N_ℓ·[tr((1 ⊗ U_ℓ+1)⁻¹U_ℓ) − ln det U_ℓ + H_ℓ·ln det U_ℓ+1],   U_L+1 = u,
/// is smallest: the U of wide layers, to 1/width (at widths of 40 to 64 from 1% below the exact
/// mean to 30% above it, on the task of examples/attention_paths). By U ← U − η·U(∂S/∂U)U/N from
/// U = 1, which keeps it positive definite; u has a closed form.
/// targets [N] or [N, O]. Errors as path_kernel, and unless σ² > 0.
PathSaddle path_saddle(const Tensor& paths, const Tensor& targets, double noise,
                       const PathOptions& options);

/// Scores of the heads of a layer (from 0): Σ|U_ππ′| over pairs of which at least one path takes
/// the head [H_ℓ]. Prune the smallest.
Tensor head_scores(const PathSaddle& saddle, const PathOptions& options, std::size_t layer);

}  // namespace ladon
