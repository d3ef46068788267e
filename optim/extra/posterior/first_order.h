#pragma once
// Difference between the posterior of finitely many heads and the Gaussian process of infinitely
// many, to first order in 1/H, without sampling a posterior.
//
// Given the latents z of its heads a network's outputs are a Gaussian process with kernel K_z, the
// mean of H single-head kernels (layers/infinite/finite/heads.h), with E K_z = K if the layers
// after the attention map kernels linearly. With δ = K_z − K for one head, A = K + σ²·I over the
// training inputs, α = A⁻¹y, W = [−K*A⁻¹, I] and
//   D₁ = ½ αᵀδα − ½ tr(A⁻¹δ),   D₂ = −½ αᵀδA⁻¹δα + ¼ tr(A⁻¹δA⁻¹δ),
// averages over z weighted by the evidence N(y; 0, K_z + σ²) expand as
//   ln Z_H = ln Z_∞ + E[D₂ + ½ D₁²]/H,   mean = m_∞ + E[Wδα·D₁ − Wδ·A⁻¹δα]/H,
//   within  = C_∞ + E[WδWᵀ·D₁ − Wδ·A⁻¹·δWᵀ]/H,   between = E[(Wδα)(Wδα)ᵀ]/H,   up to O(1/H²),
// where the covariance of a prediction is the sum of that within each z and that of its mean
// between them. The coefficients are means over single heads drawn from the prior, and show for how
// many heads the limit is accurate.
//
//   FirstOrder first(limit_kernel, targets, {.noise = 0.05});       // [N + M, N + M], [N]
//   one_head.for_each(x, 10000, rng, Get::nngp, [&](const Kernel& k) { first.add(k.nngp); });
//   first.coefficients().mean;                                      // [M, O]

#include <cstdint>

#include "ladon/autograd/running_moments.h"
#include "ladon/core/measured.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon {

/// Coefficients of 1/H, with standard errors over draws. All outputs share `within`.
struct FirstOrderCoefficients {
  Measured log_evidence;
  Tensor mean, mean_se;        ///< [M, O]
  Tensor within, within_se;    ///< [M, M]
  Tensor between, between_se;  ///< [O, M, M]: for each output
};

class FirstOrder {
 public:
  /// kernel [N + M, N + M] of the limit, training inputs first; targets [N] or [N, O]. Throws Error
  /// as GaussianProcess does, and if there are more targets than inputs.
  FirstOrder(const Tensor& kernel, const Tensor& targets, const GpOptions& options = {});

  /// Adds one draw of a single-head kernel, [N + M, N + M]. Throws Error for another shape, and
  /// unless it is symmetric and finite.
  void add(const Tensor& one_head);
  std::int64_t draws() const { return log_evidence_.count(); }

  /// Throws Error with fewer than two draws.
  FirstOrderCoefficients coefficients() const;
  /// The prediction at M test inputs for that number of heads, to first order; heads may be
  /// infinite. The covariance is within + between for the first output. Throws Error if a
  /// first-order variance is negative: the expansion is not valid for so few heads, though mean()
  /// still is.
  GpPrediction predict(double heads) const;
  /// Mean of predict(heads), [M, O]; defined for any number of heads.
  Tensor mean(double heads) const;
  double log_marginal_likelihood(double heads) const;

 private:
  Tensor kernel_, targets_;   // [N + M, N + M], [N, O]
  Tensor inverse_, weights_;  // A⁻¹ [N, N] and α [N, O]
  Tensor to_test_;            // W [M, N + M]
  double log_evidence_limit_;
  RunningMoments log_evidence_, mean_, within_, between_;
};

}  // namespace ladon
