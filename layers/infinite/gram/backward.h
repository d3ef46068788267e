#pragma once
// Gradients through Gram matrices.

#include "ladon/layers/infinite/gram/gram.h"

namespace ladon::infinite {

/// Adds the gradients of ⟨nngp, K⟩ + ⟨ntk, Θ⟩ to all leaves that the Gram matrices K and Θ of
/// gram(limit, x, options) depend on: hyper-parameters of the model and the inputs themselves.
/// Either of the cotangents nngp and ntk may be undefined. They must be symmetric, [N, N], and the
/// model must end in vectors (Error otherwise).
///
/// Works tile by tile, on and above the diagonal. The largest graph recorded at a time is that of
/// the pairs of one tile of options.tile inputs per side (0 stands for 16) or, if the model
/// averages over draws, that of a tile's inputs with the landmarks; the graph of the landmarks is
/// kept throughout. In addition, the kernels of each input with itself (self-kernels) and their
/// gradients are held for one replicate: 16 bytes per element, with T² elements per step of the
/// graph, and T·R + T² more per step that averages over draws in R coordinates. So memory grows in
/// proportion to N, except for a few matrices of the cotangents' size. Self-kernels are computed
/// once for all tiles, and once more for their gradient. If the model averages over draws, the
/// gradient is that of the mean over options.replicates estimates.
void backward_gram(const Limit& limit, const Inputs& x, const Tensor& nngp, const Tensor& ntk,
                   const GramOptions& options = {});

}  // namespace ladon::infinite
