#pragma once
// The α that gives particles the target's energy (alpha.h). Internal to this folder.

#include <functional>

#include "ladon/core/tensor.h"
#include "ladon/optim/particles/alpha.h"

namespace ladon {

/// Throws Error naming `operation` unless α is automatic, or finite and ≥ 0.
void check_alpha(const char* operation, Alpha alpha);

/// M·D·c/Σ_i (θ_i − θ̄)·R_i with c = Σ_i (θ_i − θ̄)·share(Θ − θ̄)_i/Σ_i ‖θ_i − θ̄‖², 1 without
/// `share`; 0 where particles do not repel.
double balance(const Tensor& theta, const std::function<Tensor(const Tensor&)>& share,
               const Tensor& repulsion);

/// NaN instead of 0.
double fair(double balance);

}  // namespace ladon
