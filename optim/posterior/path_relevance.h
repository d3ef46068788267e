#pragma once
// Relevance of paths through a stack of attention layers with given attention maps.
// Tokens are embedded by a Linear without bias, pass L layers of H_ℓ heads with fixed maps, and a
// linear readout. A path π = (h_1, …, h_L) takes one head per layer; ξ_π is the input after the
// maps of its heads, and C_ππ′(n, m) = ⟨ξ_π(n), ξ_π′(m)⟩/d. With widths N_ℓ of the input of layer
// ℓ, and N_a of that of the readout, the kernel is exactly
//   K = Σ_ππ′ U_1,ππ′·C_ππ′/Π_ℓ H_ℓ,   u = |a|²/N_a,
//   U_L | u ~ u·Wishart(1, N_L)/N_L,   U_ℓ | U_ℓ+1 ~ Wishart(1_{H_ℓ} ⊗ U_ℓ+1, N_ℓ)/N_ℓ,
// with h_ℓ the outer index of U_ℓ. E U = 1 gives the Gaussian-process limit. Unlike in a single
// layer on given inputs (relevance.h), paths are correlated, since all heads read the same
// embedding. (Tiberi, Mignacco, Irie and Sompolinsky 2024, arXiv 2405.15926, whose order parameter
// is the saddle below; the exact Wishart chain is from Ladon's reference, not from the paper.)

#include <cstdint>
#include <vector>

#include "ladon/layers/infinite/finite/latent_kernel.h"

namespace ladon {

struct PathOptions {
  std::vector<std::int64_t> heads;   ///< H_1, …, H_L
  std::vector<std::int64_t> widths;  ///< N_1, …, N_L, each at least the number of rows of its U.
  std::int64_t readout = 0;          ///< N_a
};

/// That kernel as a function of normal variables, for sample_posterior. `paths` is C, f64 [Π, Π, N,
/// N], paths numbered with h_1 outermost, training inputs first. Throws Error unless C has such a
/// shape, is symmetric under (π, n) ↔ (π′, m) and finite, and for sizes out of range.
infinite::LatentKernel path_kernel(const Tensor& paths, const PathOptions& options);

/// U_1 for rows z of latents of that kernel: [S, Π, Π].
Tensor path_order(const Tensor& latents, const PathOptions& options);

struct PathSaddle {
  std::vector<Tensor> order;  ///< U_1, …, U_L
  double readout = 1;         ///< u
  std::int64_t iterations = 0;
  double gradient = 0;  ///< Largest |U·∂S/∂U|/N at the end: below 1e-8 if converged.
};

/// The minimum of
///   S = ln det(K + σ²) + yᵀ(K + σ²)⁻¹y + N_a(u − ln u)
///     + Σ_ℓ N_ℓ·[tr((1 ⊗ U_ℓ+1)⁻¹U_ℓ) − ln det U_ℓ + H_ℓ·ln det U_ℓ+1],   U_L+1 = u,
/// which gives the U of wide layers up to O(1/width) (at widths of 40 to 64 between 1% below the
/// exact mean and 30% above it, on the task of examples/attention_paths). Found by U ← U −
/// η·U(∂S/∂U)U/N from U = 1, which keeps U positive definite; u has a closed form. targets [N] or
/// [N, O]. Errors as path_kernel, and unless σ² > 0.
PathSaddle path_saddle(const Tensor& paths, const Tensor& targets, double noise,
                       const PathOptions& options);

/// Scores of the heads of a layer (counted from 0), [H_ℓ]: Σ|U_ππ′| over pairs in which at least
/// one path uses the head. Prune heads with the smallest scores.
Tensor head_scores(const PathSaddle& saddle, const PathOptions& options, std::size_t layer);

}  // namespace ladon
