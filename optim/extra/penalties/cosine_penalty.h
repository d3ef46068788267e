#pragma once
// Baseline to compare particle repulsion with: a loss term that penalizes similar weights of heads.

#include "ladon/optim/particles/particles.h"

namespace ladon {

/// Mean of cos²(θ_i, θ_j) over pairs i < j of rows of Θ [M, D], a differentiable scalar in [0, 1];
/// 0 for one row. A zero row has cosine 0 and gets no gradient. Add the penalty to the loss:
///   backward(cross_entropy(model(x), y) + weight * cosine_penalty(heads));
Tensor cosine_penalty(const Tensor& theta);

/// Mean of cosine_penalty over the blocks of particles.
Tensor cosine_penalty(const Particles& particles);

}  // namespace ladon
