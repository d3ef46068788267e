#pragma once
// Latent variables of an attention layer with finitely many heads.

#include <functional>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// The latent variables of the H heads of one layer, initially independent standard normal numbers.
/// R is the number of coordinates of the tokens that queries and keys see, k = Φ·Φᵀ with Φ of R
/// columns: for network inputs these are their channels, Φ = X/sqrt(d), so that `query` and `key`
/// are the layer's own weights; after other layers those of a Cholesky factor over all tokens.
struct HeadLatents {
  Tensor logits =
      {};  ///< B [H, R, R]: logits are QK·Φ·B·Φᵀ; undefined if keys have a finite width.
  Tensor query = {}, key = {};  ///< In that case [H, R, d_k] both: B = query·keyᵀ/sqrt(d_k).
  Tensor output = {};           ///< [H, d_v]; undefined if values have infinite width.

  std::int64_t heads() const { return (logits.defined() ? logits : query).size(0); }
  std::int64_t rank() const { return (logits.defined() ? logits : query).size(1); }
  /// B, [H, R, R].
  Tensor form() const;
  /// r [H], the factor of a head's values: |output|²/d_v, 1 at infinite width.
  Tensor scale() const;
};

/// Attention weights of a layer's heads for some inputs.
struct HeadMap {
  Tensor tokens;  ///< Φ [N, T, R]
  Tensor mask;    ///< Keys that may be attended to, [N, T]; undefined: all.
  /// ζ(QK·Φ·B·Φᵀ) for forms B [S, R, R]: [S, N, T, T].
  std::function<Tensor(const Tensor& forms, const Tensor& tokens, const Tensor& mask)> weights;
};

/// Latents of all attention layers of a model, in the order of their calls.
using Latents = std::vector<HeadLatents>;

/// Returns the latents of a layer whose tokens have `rank` coordinates.
using HeadSource = std::function<HeadLatents(std::int64_t rank)>;

}  // namespace ladon::infinite
