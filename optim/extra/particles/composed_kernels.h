#pragma once
// Stein kernels composed of other kernels.

#include <cstdint>
#include <vector>

#include "ladon/optim/particles/kernel.h"

namespace ladon {

/// One kernel for each group of coordinates, with a separate bandwidth: particles that are close in
/// one group repel each other there, however far apart they are in other coordinates. Group g has
/// the coordinates from cuts[g−1] (0) to cuts[g] (D), so that {} is the kernel itself. K is block
/// diagonal. ("Graphical" kernels: Wang, Zeng and Liu 2018; Zhuo et al. 2018.) `at` throws Error
/// unless 0 < cuts[0] < cuts[1] < … < D.
SteinKernel per_block(SteinKernel kernel, std::vector<std::int64_t> cuts);

/// per_block() with one coordinate per group. Evaluates D kernels: for few dimensions.
SteinKernel per_coordinate(SteinKernel kernel);

/// K(x, y) = Q⁻¹·k(Lᵀx, Lᵀy) for a precision Q = L·Lᵀ [D, D], such as a Hessian: in the coordinates
/// Lᵀx the target is isotropic, and steps are Newton steps (Wang, Tang, Bajaj and Liu 2019, arXiv
/// 1910.12794, eq. 12). Throws Error unless Q is positive definite.
SteinKernel preconditioned(SteinKernel kernel, const Tensor& precision);

/// Σ_g w_g·K_g, for several scales at once. Throws Error unless there is at least one kernel, as
/// many weights as kernels, and all weights are finite and ≥ 0.
SteinKernel mixture(std::vector<SteinKernel> kernels, std::vector<double> weights);

/// Driving force by one kernel, repulsion by another ("hybrid kernel SVGD", MacDonald et al. 2025).
/// Keeps more variance in high dimension, but the target is no longer its only fixed point.
SteinKernel hybrid(SteinKernel share, SteinKernel repel);

}  // namespace ladon
