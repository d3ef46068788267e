#pragma once
// Kernels of many networks with finitely many heads at once, as a function of rows of numbers: what
// an algorithm needs that knows nothing of heads, such as one that samples their posterior
// (optim/posterior/latent_posterior.h).

#include <cstdint>
#include <functional>

#include "ladon/layers/infinite/finite/heads.h"

namespace ladon::infinite {

/// A Gaussian process whose kernel depends on latent numbers z, N(0, 1) each before training:
///   f | z ~ N(0, K_z).
struct LatentKernel {
  std::int64_t dim = 0;  ///< D: numbers in a row z.
  std::int64_t parts =
      1;  ///< z is that many equal parts, of which any one alone may be changed: heads.
  /// K_z between the first `inputs` inputs, for rows Z f64 [P, D]: f64 [P, inputs, inputs]. Runs on
  /// all threads.
  std::function<Tensor(const Tensor& z, std::int64_t inputs)> at = {};
};

/// Latent kernel of a model's heads, for these inputs. A row is, head after head, what HeadLatents
/// lists of a head, layer after layer: logits [R, R] or query and key [R, d_k], and output [d_v].
///
/// If the kernel is a·Σ_h r_h⟨u_h(n), u_h(m)⟩/H + b, it is computed so, a hundred times faster than
/// by passing kernels through the model. u_h is the weights of head h (mean over queries, those of
/// the first query, or all) times the tokens. One attention layer has this kernel on inputs as they
/// are, or behind a Linear, if MeanPositions, FirstToken or Flatten, then at most a Linear, follow.
/// Two draws of latents, computed both ways, tell whether a model has it. Throws Error where a
/// model has no layer with random logits, and where it ends with positions.
LatentKernel latent_kernel(const FiniteHeads& heads, const Inputs& x);

/// Such a row [D] as the latents of heads, and back; `like` gives their shapes.
Latents latents_of_row(const Tensor& row, const Latents& like);
Tensor row_of_latents(const Latents& z);

}  // namespace ladon::infinite
