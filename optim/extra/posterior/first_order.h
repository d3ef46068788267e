#pragma once
// Difference between the posterior with finitely many heads H and the Gaussian process with
// infinitely many heads, to first order in 1/H, without sampling a posterior.
//
// Given the latent variables z of its heads, a network's outputs are a Gaussian process with kernel
// K_z, the mean of H single-head kernels (layers/infinite/finite/heads.h), with E K_z = K if the
// layers that follow the attention act linearly on kernels. Let δ = K_z − K for one head, A = K +
// σ²·I over the training inputs, α = A⁻¹y for targets y, K* the kernel between test and training
// inputs, W = [−K*A⁻¹, I] and
//   D₁ = ½ αᵀδα − ½ tr(A⁻¹δ),   D₂ = −½ αᵀδA⁻¹δα + ¼ tr(A⁻¹δA⁻¹δ).
// Let m_∞ and C_∞ be the mean and covariance for infinitely many heads. The evidence Z_H, and
// averages over z weighted by N(y; 0, K_z + σ²I), then expand as
//   ln Z_H = ln Z_∞ + E[D₂ + ½ D₁²]/H,   mean = m_∞ + E[Wδα·D₁ − Wδ·A⁻¹δα]/H,
//   within  = C_∞ + E[WδWᵀ·D₁ − Wδ·A⁻¹·δWᵀ]/H,   between = E[(Wδα)(Wδα)ᵀ]/H,   up to O(1/H²),
// where the covariance of a prediction is the sum of `within`, the mean covariance given z, and
// `between`, the covariance over z of the mean given z. The coefficients are means over single
// heads drawn from the prior, and show for how many heads the limit is accurate.
//
//   FirstOrder first(limit_kernel, targets, {.noise = 0.05});       // [N + M, N + M], [N]
//   one_head.for_each(x, 10000, rng, Get::nngp, [&](const Kernel& k) { first.add(k.nngp); });
//   first.coefficients().mean;                                      // [M, O]

#include <cstdint>

#include "ladon/autograd/running_moments.h"
#include "ladon/core/measured.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon {

/// Coefficients of 1/H in the expansions above; members `*_se` are standard errors over draws. All
/// outputs share `within`.
struct FirstOrderCoefficients {
  Measured log_evidence;
  Tensor mean, mean_se;        ///< [M, O]
  Tensor within, within_se;    ///< [M, M]
  Tensor between, between_se;  ///< [O, M, M]: for each output
};

class FirstOrder {
 public:
  /// `kernel` [N + M, N + M] is K, the kernel for infinitely many heads, training inputs first;
  /// targets are [N] or [N, O]. Throws Error whenever GaussianProcess does, if there are more
  /// targets than inputs, and for a kernel that is known to be an NTK: the expansion is about a
  /// Bayesian prior, whose covariance is the NNGP kernel.
  FirstOrder(const infinite::KernelMatrix& kernel, const Tensor& targets,
             const GpOptions& options = {});

  /// Adds one draw of a single-head kernel [N + M, N + M]. Throws Error for another shape, and
  /// unless the kernel is symmetric and finite.
  void add(const Tensor& one_head);
  std::int64_t draws() const { return log_evidence_.count(); }

  /// Estimates of the coefficients from all draws. Throws Error if there are fewer than two draws.
  FirstOrderCoefficients coefficients() const;
  /// Prediction at M test inputs for a network with `heads` heads, to first order in 1/heads;
  /// `heads` may be infinite. The covariance is that of the first output: the mean covariance given
  /// the heads' latent variables plus the covariance of the mean over them (`within` and `between`
  /// above). Throws Error if a first-order variance is negative: the expansion of the covariance is
  /// not valid for so few heads; mean() can still be called.
  GpPrediction predict(double heads) const;
  /// Mean of predict(heads), [M, O], for any positive number of heads.
  Tensor mean(double heads) const;
  double log_marginal_likelihood(double heads) const;

 private:
  Tensor kernel_, targets_;   // [N + M, N + M], [N, O]
  Tensor inverse_, weights_;  // A⁻¹ [N, N] and α = A⁻¹y [N, O], A: covariance of the targets
  Tensor to_test_;            // W = [−K*A⁻¹, I], [M, N + M]
  DType precision_;           // dtype of the least precise kernel
  double log_evidence_limit_;
  RunningMoments log_evidence_, mean_, within_, between_;
};

}  // namespace ladon
