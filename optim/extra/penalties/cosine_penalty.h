#pragma once
// A baseline to compare repulsion with: a loss term that makes heads differ.

#include "ladon/optim/particles/particles.h"

namespace ladon {

/// The mean over pairs i < j of cos²(θ_i, θ_j), a scalar, for rows Θ [M, D]; differentiable.
/// In [0, 1]; 0 for one row. A zero row has cosine 0 and gives no gradient. Add it to the loss:
///   backward(cross_entropy(model(x), y) + weight * cosine_penalty(heads));
Tensor cosine_penalty(const Tensor& theta);

/// Its mean over the blocks.
Tensor cosine_penalty(const Particles& particles);

}  // namespace ladon
