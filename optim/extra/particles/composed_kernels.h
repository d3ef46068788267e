#pragma once
// Kernels between particles (kernel.h) composed of other kernels.

#include <cstdint>
#include <vector>

#include "ladon/optim/particles/kernel.h"

namespace ladon {

/// Block-diagonal kernel K that applies `kernel` to each group of coordinates separately, each with
/// its own bandwidth: particles that are close in one group repel each other there, however far
/// apart they are in other coordinates. The cuts separate the groups: group g has the coordinates
/// from cuts[g−1] (0 for the first group) up to cuts[g] (D for the last group), and without cuts
/// the result is `kernel` itself. ("Graphical" kernels: Wang, Zeng and Liu 2018; Zhuo et al. 2018.)
/// The result's function `at` throws Error unless 0 < cuts[0] < cuts[1] < … < D.
SteinKernel per_block(SteinKernel kernel, std::vector<std::int64_t> cuts);

/// per_block() with one coordinate per group. It evaluates D kernels, so use it in few dimensions.
SteinKernel per_coordinate(SteinKernel kernel);

/// Preconditioned kernel K(x, y) = Q⁻¹·k(Lᵀx, Lᵀy) for a precision matrix Q = L·Lᵀ [D, D], such as
/// a Hessian: if Q is the target's precision, the target is isotropic in the coordinates Lᵀx, and
/// steps are Newton steps (Wang, Tang, Bajaj and Liu 2019, arXiv 1910.12794, eq. 12). Throws Error
/// unless Q is positive definite.
SteinKernel preconditioned(SteinKernel kernel, const Tensor& precision);

/// Weighted sum Σ_g w_g·K_g of kernels, for example of several bandwidths. Throws Error unless
/// there is at least one kernel, as many weights as kernels, and all weights are finite and ≥ 0.
SteinKernel mixture(std::vector<SteinKernel> kernels, std::vector<double> weights);

/// Kernel with the driving force of the kernel `share` and the repulsion of the kernel `repel`
/// ("hybrid kernel SVGD", MacDonald et al. 2025). In high dimension particles keep more variance
/// than with one kernel, but the target is no longer the only fixed point.
SteinKernel hybrid(SteinKernel share, SteinKernel repel);

}  // namespace ladon
