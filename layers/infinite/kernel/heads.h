#pragma once
// Latent variables of an attention layer with finitely many heads.

#include <functional>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// Latent variables of the H heads of one attention layer, initially independent standard normal
/// numbers. R is the number of coordinates of the tokens that queries and keys see: the kernel of
/// the tokens is k = Φ·Φᵀ, where Φ has R columns. If these tokens are the network's inputs X, with
/// d channels, Φ = X/sqrt(d), so that `query` and `key` are the layer's weights themselves; after
/// other layers Φ comes from a Cholesky factor over all tokens (roots.h).
struct HeadLatents {
  /// B [H, R, R] for keys of infinite width, else undefined: logits are QK·Φ·B·Φᵀ, where QK is the
  /// product of the standard deviations of query and key weights.
  Tensor logits = {};
  Tensor query = {}, key = {};  ///< [H, R, d_k] each for keys of width d_k, else undefined.
  Tensor output = {};           ///< [H, d_v] for values of width d_v; undefined for infinite width.

  std::int64_t heads() const { return (logits.defined() ? logits : query).size(0); }
  std::int64_t rank() const { return (logits.defined() ? logits : query).size(1); }
  // The functions below throw Error if both `logits` and the pair of `query` and `key` are given,
  // or neither, and for other shapes.
  /// B [H, R, R]: `logits`, or query·keyᵀ/sqrt(d_k).
  Tensor form() const;
  /// Factors r [H] of the heads' contributions to the kernel: |output|²/d_v, or 1 for values of
  /// infinite width.
  Tensor scale() const;
};

/// Tokens of some inputs of an attention layer, and its attention weights for them as a function of
/// the heads.
struct HeadMap {
  Tensor tokens;  ///< Φ [N, T, R], the tokens' coordinates.
  Tensor mask;    ///< Keys that may be attended to, [N, T]; undefined if all may.
  /// Attention weights ζ(QK·Φ·B·Φᵀ) [S, N, T, T] of S heads. `forms` [S, R, R] holds each head's
  /// bilinear form B; ζ maps logits to weights (softmax, ...), and the number QK is the product of
  /// the standard deviations of query and key weights.
  std::function<Tensor(const Tensor& forms, const Tensor& tokens, const Tensor& mask)> weights;
};

/// Latents of all attention layers of a model, in the order of their calls.
using Latents = std::vector<HeadLatents>;

/// Returns the latents of a layer whose tokens have `rank` coordinates.
using HeadSource = std::function<HeadLatents(std::int64_t rank)>;

}  // namespace ladon::infinite
