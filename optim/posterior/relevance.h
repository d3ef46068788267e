#pragma once
// Relevance of the heads of an attention layer with given attention maps: which heads the data
// need, inferred at finite width of the values.
//
// With fixed maps, and given the output weights w_h ~ N(0, 1) of its H heads, a layer whose values
// have width d_v is exactly a Gaussian process with the kernel
//   K_r = Σ_h r_h·K_h/H,   r_h = |w_h|²/d_v,   E r_h = 1,
// where K_h is the kernel of head h alone. Each head's scale r_h is a hyper-parameter with the
// prior Gamma(d_v/2, d_v/2), and inferring it is automatic relevance determination. For d_v → ∞ at
// a fixed number N of targets all scales are 1, and heads are indistinguishable; so prune by r_h
// only if N is large compared with d_v. (Tiberi, Mignacco, Irie and Sompolinsky 2024, arXiv
// 2405.15926: their theory of wide layers, applied to inputs without an embedding. Their saddle
// point is the limit N, d_v → ∞ at a fixed ratio.)

#include <cstdint>

#include "ladon/layers/infinite/finite/latent_kernel.h"

namespace ladon {

/// Kernel K_r as a function of the weights w, for sample_posterior, which then samples r exactly.
/// Rows z [P, H·d_v] contain w_h head after head. `heads` are the kernels K_h, f64 [H, N, N],
/// training inputs first. Throws Error for other shapes, values that are not finite, widths below
/// 1, and if H·d_v overflows.
infinite::LatentKernel relevance_kernel(const Tensor& heads, std::int64_t value_width);

/// The scales r [S, H] of the latents z [S, H·d_v] of relevance_kernel().
Tensor scales_of_latents(const Tensor& latents, std::int64_t heads);

struct RelevanceSaddle {
  Tensor scales =
      {};  ///< r [H]: above 1 for heads that improve the fit by more than their prior cost.
  std::int64_t iterations = 0;
  double gradient = 0;  ///< Largest |∂S/∂ ln r_h|/d_v at the end: below 1e-9 if converged.
};

/// Most likely scales r of wide layers, which minimize
///   S(r) = ln det(K_r + σ²) + yᵀ(K_r + σ²)⁻¹y + d_v Σ_h (r_h − ln r_h),
/// with targets y and noise variance σ². At the minimum
///   r_h = 1 + r_h/(d_v·H)·[αᵀK_hα − tr((K_r + σ²)⁻¹K_h)],   α = (K_r + σ²)⁻¹y.
/// Found by natural gradient descent from r = 1, with steps halved where S would rise. The relative
/// difference between the exact posterior means of r and the result is about 1/d_v: for widths of
/// 40 and more the means are some percent above the result. heads [H, N, N] (if there are more
/// inputs than targets, the first inputs are used), targets [N] or [N, O]. Throws the Errors of
/// relevance_kernel(), and an Error unless σ² is positive and finite.
RelevanceSaddle relevance_saddle(const Tensor& heads, const Tensor& targets, double noise,
                                 std::int64_t value_width);

}  // namespace ladon
