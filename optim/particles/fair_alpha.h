#pragma once
// The α* at which particles match the target's energy (alpha.h). Internal to this folder.

#include <functional>

#include "ladon/core/tensor.h"
#include "ladon/optim/particles/alpha.h"

namespace ladon {

/// Throws Error naming `operation` unless α is automatic, or finite and ≥ 0.
void check_alpha(const char* operation, Alpha alpha);

/// The `automatic` α, M·D·c/Σ_i (θ_i − θ̄)·R_i, of particles theta [M, D] with repulsion R [M, D]:
/// c = Σ_i (θ_i − θ̄)·share(Θ − θ̄)_i/Σ_i ‖θ_i − θ̄‖², or c = 1 if `share` is empty. Returns 0 if
/// the particles do not repel.
double balance(const Tensor& theta, const std::function<Tensor(const Tensor&)>& share,
               const Tensor& repulsion);

/// BlockReport::fair_alpha from a result of balance(): NaN if the result is 0.
double fair(double balance);

}  // namespace ladon
