#pragma once
// Which heads do the data ask for? Relevance of heads of a layer whose attention maps are given,
// from the widths of its values.
//
// With maps fixed, a layer of H heads with values of width d_v has the kernel
//   K_r = Σ_h r_h·K_h/H,   r_h = |w_h|²/d_v,  w_h ~ N(0, 1) the output's weights, E r_h = 1,
// exactly: each head's scale is a hyper-parameter with a prior Gamma(d_v/2, d_v/2), and its
// posterior is automatic relevance determination. With d_v → ∞ at fixed N all scales are 1, and no
// head is told from another; so prune by r_h only where data are many per width.
// (Tiberi, Mignacco, Irie and Sompolinsky 2024, arXiv 2405.15926, whose theory of wide layers this
// is for inputs as they are; there the saddle is the limit N, d_v → ∞ at a fixed ratio.)

#include <cstdint>

#include "ladon/layers/infinite/finite/latent_kernel.h"

namespace ladon {

/// Kernel K_r as a function of the weights w: rows z [P, H·d_v], head after head. `heads` are K_h,
/// f64 [H, N, N], training inputs first. For sample_posterior, which samples the r exactly. Throws
/// Error for other shapes, values that are not finite, and widths below 1.
infinite::LatentKernel relevance_kernel(const Tensor& heads, std::int64_t value_width);

/// The scales r [S, H] of rows z [S, H·d_v].
Tensor scales_of_latents(const Tensor& latents, std::int64_t heads);

struct RelevanceSaddle {
  Tensor scales =
      {};  ///< r [H]: above 1 for heads that explain more of the targets than they cost.
  std::int64_t iterations = 0;
  double gradient = 0;  ///< Largest |∂S/∂ ln r_h|/d_v at the end: below 1e-9 where it converged.
};

/// The r that minimize
///   S(r) = ln det(K_r + σ²) + yᵀ(K_r + σ²)⁻¹y + d_v Σ_h (r_h − ln r_h),
/// the most likely scales of wide layers; where S is stationary
///   r_h = 1 + r_h/(d_v·H)·[αᵀK_hα − tr((K_r + σ²)⁻¹K_h)],   α = (K_r + σ²)⁻¹y.
/// Found by natural gradient from r = 1, with steps halved where S would rise. The exact means of r
/// are within about 1/d_v of it: some percent above from widths of 40 on. heads [H, N, N] (more
/// inputs than targets: the first count), targets [N] or [N, O]. Throws Error as relevance_kernel,
/// and unless σ² > 0.
RelevanceSaddle relevance_saddle(const Tensor& heads, const Tensor& targets, double noise,
                                 std::int64_t value_width);

}  // namespace ladon
