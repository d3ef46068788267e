#pragma once
// Kernels of many networks with finitely many heads at once, as a function of a matrix with one row
// of latent numbers per network: for algorithms that need not know about heads, such as samplers of
// their posterior (optim/posterior/latent_posterior.h).

#include <cstdint>
#include <functional>

#include "ladon/layers/infinite/finite/heads.h"

namespace ladon::infinite {

/// A Gaussian process whose kernel depends on latent numbers z, each N(0, 1) a priori:
///   f | z ~ N(0, K_z).
struct LatentKernel {
  std::int64_t dim = 0;  ///< D: length of a row z.
  /// Number of equal parts of z, one per head, which a sampler may update one at a time.
  std::int64_t parts = 1;
  /// K_z between the first `inputs` inputs for each of P rows z: maps Z, f64 [P, D], to f64 [P,
  /// inputs, inputs]. Runs on all threads.
  std::function<Tensor(const Tensor& z, std::int64_t inputs)> at = {};
};

/// Latent kernel of a model's heads, for these inputs. A row lists head by head, and within a head
/// layer by layer, the numbers of HeadLatents: logits [R, R] or query and key [R, d_k], and output
/// [d_v].
///
/// If the kernel is a·Σ_h r_h⟨u_h(n), u_h(m)⟩/H + b with constants a and b, it is computed by this
/// formula, a hundred times faster than by passing kernels through the model. u_h are the attention
/// weights of head h (their mean over queries, those of the first query, or all) times the tokens,
/// and r_h is HeadLatents::scale(). A model has such a kernel if its only attention layer is first,
/// or follows a Linear, and is followed by MeanPositions, FirstToken or Flatten, then at most by a
/// Linear. The formula is tested by a few draws of latents, computed both ways. Throws Error if the
/// model has no layer with random logits, or its outputs have positions.
LatentKernel latent_kernel(const FiniteHeads& heads, const Inputs& x);

/// latents_of_row() converts a row z [D] to latents of heads with the shapes of `like`;
/// row_of_latents() converts latents to a row.
Latents latents_of_row(const Tensor& row, const Latents& like);
Tensor row_of_latents(const Latents& z);

}  // namespace ladon::infinite
