#pragma once
// Attention weights that travel to and from PyTorch.

#include "ladon/layers/attention.h"

namespace ladon {

/// torch.nn.MultiheadAttention's layout: in_proj_weight [3·dim, dim] (q, k, v stacked, head-major
/// rows), in_proj_bias [3·dim], out_proj.weight [dim, dim], out_proj.bias [dim]. Throws Error where
/// the layer has no such form (different key width, tied, ntk, …) or a shape disagrees; the layer then
/// stays as it was.
StateDict to_torch(const MultiHeadAttention& layer);
void from_torch(MultiHeadAttention& layer, const StateDict& state);

}  // namespace ladon
