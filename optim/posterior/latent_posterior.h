#pragma once
// Exact posterior of attention with finitely many heads, or of any Gaussian process whose kernel
// depends on latent variables.
//
// Given its latent variables z, a network with H infinitely wide heads is a Gaussian process with
// kernel K_z (layers/infinite/finite/heads.h); the weights after the attention maps are integrated
// out. With targets y of noise variance σ²,
//   p(z | y) ∝ N(z; 0, I)·N(y; 0, K_z + σ²I),   p(f* | y) = ∫ GP(f* | y, K_z) p(z | y) dz.
// If m_z and C_z are the mean and covariance of f* given z and y, f* has mean ⟨m_z⟩ and covariance
// ⟨C_z⟩ (`within`) + Cov(m_z) (`between`), averaged over p(z | y). The evidence of H heads is ∫
// N(z; 0, I)·N(y; 0, K_z + σ²I) dz. The latents are sampled by elliptical slice sampling of one
// or several heads at a time, inside sequential Monte Carlo (samplers/smc.h), because with one or
// two heads there are several modes. Predictions average m_z and C_z, not draws of f*. (The
// distribution given z is that of Sakai, Karakida and Imaizumi 2025, arXiv 2506.00846.)
//
//   const auto kernel = latent_kernel(finite_heads(model, {.heads = 4}), train_and_test);
//   const LatentPosterior four = sample_posterior(kernel, targets, {.noise = 0.05}, rng);
//   four.mean; four.variance(); four.log_evidence;

#include <cstdint>
#include <functional>

#include "ladon/core/measured.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
#include "ladon/optim/samplers/smc.h"

namespace ladon {

struct LatentPosteriorOptions {
  double noise = 0;  ///< Variance σ² > 0 of the noise on the targets.
  /// Options of each replicate. With one head use thousands of particles. Leave `smc.parts` at 1
  /// (Error otherwise): it is replaced by the largest divisor of the kernel's `parts` that is at
  /// most 8. So with more than 8 heads several are updated at once, which works because the data
  /// constrain each of many heads only a little.
  SmcOptions smc = {};
  std::int64_t replicates = 6;  ///< Number of independent runs, at least 2, from which standard
                                ///< errors are computed.
  /// Called after each replicate with the number of replicates done and the total. May throw, to
  /// stop.
  std::function<void(std::int64_t done, std::int64_t of)> progress = {};
};

/// Posterior of f at M test inputs, with O outputs, given N targets. Members `*_se` are standard
/// errors over replicates.
struct LatentPosterior {
  Measured log_evidence;
  Tensor mean, mean_se;        ///< [M, O]
  Tensor within, within_se;    ///< [M, M]: ⟨C_z⟩, the mean covariance given the latents
  Tensor between, between_se;  ///< [O, M, M]: Cov(m_z), the covariance of means, for each output

  // Draws of the latents z from the posterior: the S particles of all replicates, each after its
  // last sweep.
  Tensor latents;    ///< z [S, D]
  Tensor means;      ///< Means m_z of f given z and y, [S, M, O].
  Tensor variances;  ///< Variances of f given z and y, the diagonals of C_z, [S, M].

  std::int64_t stages = 0;  ///< Number of tempering stages (values of β) in the last replicate.
  std::int64_t judged = 0;  ///< Total number of likelihood evaluations.

  /// Covariance [M, M] of one output of f (without noise), and its diagonal [M].
  Tensor covariance(std::int64_t output = 0) const;
  Tensor variance(std::int64_t output = 0) const;
};

/// Samples the posterior. `kernel` gives K_z at `inputs` = N + M inputs, training inputs first;
/// targets are [N] or [N, O]. Outputs are independent given z. Advances rng by one block
/// (core/random.h). Throws Error if shapes disagree or σ² is not positive and finite, and the
/// Errors of tempered_smc().
LatentPosterior sample_posterior(const infinite::LatentKernel& kernel, std::int64_t inputs,
                                 const Tensor& targets, const LatentPosteriorOptions& options,
                                 Generator& rng);

/// Draws [F, M, O] of f at the test inputs, one function for each row of latents [F, D]. If the
/// latents are draws from the posterior of z, the functions are exact draws from the posterior of
/// f. Advances rng by one block (core/random.h). Throws the Errors of sample_posterior().
Tensor draw_functions(const infinite::LatentKernel& kernel, std::int64_t inputs,
                      const Tensor& targets, double noise, const Tensor& latents, Generator& rng);

/// Log likelihood that sample_posterior uses: ln N(y; 0, K_z + σ²I) for each row z, summed over
/// outputs.
LogLikelihood latent_likelihood(const infinite::LatentKernel& kernel, const Tensor& targets,
                                double noise);

}  // namespace ladon
