#pragma once
// Stein kernels made of others.

#include <cstdint>
#include <vector>

#include "ladon/optim/particles/kernel.h"

namespace ladon {

/// One kernel for each group of coordinates, with a bandwidth of its own: particles that agree in
/// one group repel each other there, whatever they do elsewhere. Group g has the coordinates from
/// cuts[g−1] (0) to cuts[g] (D), so that {} is the kernel itself. K is block diagonal. ("Graphical"
/// kernels: Wang, Zeng and Liu 2018; Zhuo et al. 2018.) `at` throws Error unless 0 < cuts[0] <
/// cuts[1] < … < D.
SteinKernel per_block(SteinKernel kernel, std::vector<std::int64_t> cuts);

/// per_block() of one coordinate each. Takes D kernels: for few dimensions.
SteinKernel per_coordinate(SteinKernel kernel);

/// K(x, y) = Q⁻¹·k(Lᵀx, Lᵀy) for a precision Q = L·Lᵀ [D, D], such as a Hessian's: under Q the
/// target looks alike in all directions, and steps are Newton's (Wang, Tang, Bajaj and Liu 2019,
/// arXiv 1910.12794, eq. 12). Throws Error unless Q is positive definite.
SteinKernel preconditioned(SteinKernel kernel, const Tensor& precision);

/// Σ_g w_g·K_g: several scales at once. Throws Error unless there are as many weights as kernels,
/// one at least, all finite and ≥ 0.
SteinKernel mixture(std::vector<SteinKernel> kernels, std::vector<double> weights);

/// Driving force by one kernel, repulsion by another ("hybrid kernel SVGD", MacDonald et
/// al. 2025). Keeps more variance in high dimension, and no longer has the target as its only rest.
SteinKernel hybrid(SteinKernel share, SteinKernel repel);

}  // namespace ladon
