#pragma once
// Relevance of paths through a stack of attention layers with given attention maps.
// Tokens of dimension d are embedded by a Linear without bias, and pass through L layers of H_ℓ
// heads with fixed attention maps, and then through a linear readout with weights a. A path π =
// (h_1, …, h_L) takes one head per layer; ξ_π(n) is input n after the maps of the path's heads, and
// C_ππ′(n, m) = ⟨ξ_π(n), ξ_π′(m)⟩/d. Let N_ℓ be the width of the input of layer ℓ, N_a that of the
// readout, and u = |a|²/N_a. Then, given random matrices U_ℓ, the network is exactly a Gaussian
// process, with the kernel
//   K = Σ_ππ′ U_1,ππ′·C_ππ′/Π_ℓ H_ℓ,
//   U_L | u ~ u·Wishart(1, N_L)/N_L,   U_ℓ | U_ℓ+1 ~ Wishart(1_{H_ℓ} ⊗ U_ℓ+1, N_ℓ)/N_ℓ,
// where the rows of U_ℓ are the partial paths (h_ℓ, …, h_L), h_ℓ outermost, and 1 is an identity
// matrix. Replacing every U_ℓ by its mean, E U_ℓ = 1, gives the Gaussian-process limit. Unlike in a
// single layer on given inputs (relevance.h), paths are correlated, since all heads read the same
// embedding. The method is that of Tiberi, Mignacco, Irie and Sompolinsky 2024, arXiv 2405.15926,
// whose order parameter is the result of path_saddle(). The exact chain of Wishart distributions is
// not in that article; it was derived for Ladon.

#include <cstdint>
#include <vector>

#include "ladon/layers/infinite/finite/latent_kernel.h"

namespace ladon {

struct PathOptions {
  std::vector<std::int64_t> heads;  ///< Numbers of heads of the layers, H_1, …, H_L.
  /// Widths of the inputs of the layers, N_1, …, N_L; N_ℓ is at least the number of rows of U_ℓ.
  std::vector<std::int64_t> widths;
  std::int64_t readout = 0;  ///< Width of the input of the readout, N_a.
};

/// The kernel K as a function of standard normal latent variables, which determine u and U_ℓ, for
/// sample_posterior. `paths` is C, f64 [Π, Π, N, N] for Π paths and N inputs: paths are numbered
/// with h_1 outermost, training inputs come first. Throws Error if C does not have such a shape, is
/// not symmetric under (π, n) ↔ (π′, m), or is not finite, and for sizes out of range.
infinite::LatentKernel path_kernel(const Tensor& paths, const PathOptions& options);

/// U_1 [S, Π, Π] for S rows of latent variables of path_kernel().
Tensor path_order(const Tensor& latents, const PathOptions& options);

struct PathSaddle {
  std::vector<Tensor> order;  ///< U_1, …, U_L
  double readout = 1;         ///< u = |a|²/N_a of the readout weights a
  std::int64_t iterations = 0;
  double gradient = 0;  ///< Largest element of |U·∂S/∂U|/N at the end: below 1e-8 if converged.
};

/// Most likely U_ℓ and u of wide layers, the minimum of
///   S = ln det(K + σ²) + yᵀ(K + σ²)⁻¹y + N_a(u − ln u)
///     + Σ_ℓ N_ℓ·[tr((1 ⊗ U_ℓ+1)⁻¹U_ℓ) − ln det U_ℓ + H_ℓ·ln det U_ℓ+1],   U_L+1 = u,
/// with targets y and noise variance σ². It agrees with the exact posterior mean of U up to
/// O(1/width): at widths of 40 to 64, on the task of examples/attention_paths, it is between 1%
/// below and 30% above that mean. Found by the iteration U ← U − η·U(∂S/∂U)U/N from U = 1, which
/// keeps U symmetric; η is halved whenever a step would make U indefinite, or would decrease
/// neither S nor its gradient. u has a closed form. targets [N] or [N, O]. Throws the Errors of
/// path_kernel(), and an Error unless σ² is positive and finite.
PathSaddle path_saddle(const Tensor& paths, const Tensor& targets, double noise,
                       const PathOptions& options);

/// Relevance scores [H_ℓ] of the heads of a layer (counted from 0): the sum of |U_1,ππ′| over pairs
/// of paths in which π, π′ or both use the head. Prune heads with the smallest scores.
Tensor head_scores(const PathSaddle& saddle, const PathOptions& options, std::size_t layer);

}  // namespace ladon
