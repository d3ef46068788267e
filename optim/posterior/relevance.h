#pragma once
// Relevance of heads of a layer with given attention maps: which heads the data need, inferred from
// the finite width of the values.
//
// With maps fixed, a layer of H heads with values of width d_v has the kernel
//   K_r = Σ_h r_h·K_h/H,   r_h = |w_h|²/d_v,  w_h ~ N(0, 1) the output's weights, E r_h = 1,
// exactly: each head's scale is a hyper-parameter with a prior Gamma(d_v/2, d_v/2), and its
// posterior is automatic relevance determination. With d_v → ∞ at fixed N all scales are 1, and
// heads are indistinguishable; so prune by r_h only if data are many compared with the width.
// (Tiberi, Mignacco, Irie and Sompolinsky 2024, arXiv 2405.15926: their theory of wide layers,
// applied to inputs without an embedding; there the saddle is the limit N, d_v → ∞ at a fixed
// ratio.)

#include <cstdint>

#include "ladon/layers/infinite/finite/latent_kernel.h"

namespace ladon {

/// Kernel K_r as a function of the weights w: rows z [P, H·d_v], head after head. `heads` are K_h,
/// f64 [H, N, N], training inputs first. For sample_posterior, which then samples r exactly. Throws
/// Error for other shapes, values that are not finite, and widths below 1.
infinite::LatentKernel relevance_kernel(const Tensor& heads, std::int64_t value_width);

/// The scales r [S, H] for rows z [S, H·d_v].
Tensor scales_of_latents(const Tensor& latents, std::int64_t heads);

struct RelevanceSaddle {
  Tensor scales =
      {};  ///< r [H]: above 1 for heads that improve the fit by more than their prior cost.
  std::int64_t iterations = 0;
  double gradient = 0;  ///< Largest |∂S/∂ ln r_h|/d_v at the end: below 1e-9 if converged.
};

/// Minimizes over r
///   S(r) = ln det(K_r + σ²) + yᵀ(K_r + σ²)⁻¹y + d_v Σ_h (r_h − ln r_h),
/// which gives the most likely scales of wide layers; at the minimum
///   r_h = 1 + r_h/(d_v·H)·[αᵀK_hα − tr((K_r + σ²)⁻¹K_h)],   α = (K_r + σ²)⁻¹y.
/// Found by natural gradient from r = 1, with steps halved where S would rise. The exact means of r
/// are within about 1/d_v of the result: some percent above it from widths of 40 on. heads [H, N,
/// N] (with more inputs than targets the first ones are used), targets [N] or [N, O]. Throws Error
/// as relevance_kernel, and unless σ² > 0.
RelevanceSaddle relevance_saddle(const Tensor& heads, const Tensor& targets, double noise,
                                 std::int64_t value_width);

}  // namespace ladon
