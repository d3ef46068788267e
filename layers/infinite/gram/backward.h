#pragma once
// Gradients through Gram matrices.

#include "ladon/layers/infinite/gram/gram.h"

namespace ladon::infinite {

/// Adds to the gradients of all leaves that a Gram matrix depends on, hyper-parameters of the model
/// and the inputs themselves, those of ⟨nngp, K⟩ + ⟨ntk, Θ⟩, where K and Θ are what gram(limit, x,
/// options) gives; either cotangent may be undefined. They are symmetric, [N, N], and the model
/// ends in vectors (Error otherwise).
///
/// Tile by tile, on and above the diagonal. Recorded at a time is the most of: the pairs of one
/// tile of options.tile inputs a side (0: 16); and, where the model averages over draws, those of a
/// tile's inputs with the landmarks, after those of the landmarks with themselves, which stay.
/// Beside that, what layers make of each input alone is held twice, with its gradient, of one
/// replicate: 16 bytes for each of T² numbers per step and, for a layer that draws in R
/// coordinates, T·R + T² more; so memory grows as N, but for a few matrices of the cotangents'
/// size. It is computed once for all tiles, and once more for its gradient. Where the model
/// averages over draws, the gradient is of the mean over options.replicates.
void backward_gram(const Limit& limit, const Inputs& x, const Tensor& nngp, const Tensor& ntk,
                   const GramOptions& options = {});

}  // namespace ladon::infinite
