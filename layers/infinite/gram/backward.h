#pragma once
// Gradients through Gram matrices.

#include "ladon/layers/infinite/gram/gram.h"

namespace ladon::infinite {

/// Adds to the gradients of all leaves that a Gram matrix depends on, hyper-parameters of the model and
/// the inputs themselves, those of ⟨nngp, K⟩ + ⟨ntk, Θ⟩, where K and Θ are what gram(limit, x, options)
/// gives; either cotangent may be undefined. They are symmetric, [N, N], and the model ends in vectors
/// (Error otherwise).
///
/// Tile by tile, on and above the diagonal: what is recorded of the N² pairs is never more than one
/// tile of options.tile inputs a side (0: 16). Where the model averages over draws, the gradient is of
/// the mean over options.replicates.
void backward_gram(const Limit& limit, const Inputs& x, const Tensor& nngp, const Tensor& ntk,
                   const GramOptions& options = {});

}  // namespace ladon::infinite
