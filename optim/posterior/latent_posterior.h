#pragma once
// The exact posterior of attention with finitely many heads, or of any Gaussian process whose
// kernel depends on latent variables.
//
// Given its latents z a network with H infinitely wide heads is a Gaussian process with kernel K_z
// (layers/infinite/finite/heads.h); the weights after the attention maps are integrated out. So
//   p(z | y) ∝ N(z; 0, 1)·N(y; 0, K_z + σ²),   f* | y = ∫ GP(f* | y, K_z) p(z | y) dz
// with mean ⟨m_z⟩, covariance ⟨C_z⟩ (within) + Cov(m_z) (between), and the evidence of H heads, ∫
// N(z; 0, 1)·N(y; 0, K_z + σ²) dz. The latents are sampled by elliptical slice sampling, one head
// at a time, inside sequential Monte Carlo (samplers/smc.h), because with one or two heads there
// are several modes. Predictions average m_z and C_z, not draws of f*. (Sakai, Karakida and
// Imaizumi 2025, arXiv 2506.00846, for the distribution given z.)
//
//   const auto kernel = latent_kernel(finite_heads(model, {.heads = 4}), train_and_test);
//   const LatentPosterior four = sample_posterior(kernel, targets, {.noise = 0.05}, rng);
//   four.mean; four.variance(); four.log_evidence;      // each with its error

#include <cstdint>
#include <functional>

#include "ladon/core/measured.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
#include "ladon/optim/samplers/smc.h"

namespace ladon {

struct LatentPosteriorOptions {
  double noise = 0;  ///< Variance σ² > 0 of the noise on the targets.
  /// Options of each replicate. With one head use thousands of particles. `parts` is replaced by
  /// the largest divisor of the kernel's parts up to 8: the more heads there are, the less the data
  /// constrain each of them, so several can be moved at once.
  SmcOptions smc = {};
  std::int64_t replicates = 6;  ///< Number of independent runs, at least 2, from which standard
                                ///< errors are computed.
  /// Called after each replicate. May throw, to stop.
  std::function<void(std::int64_t done, std::int64_t of)> progress = {};
};

/// Posterior of f at M test inputs, with O outputs, given N targets. Standard errors are over
/// replicates.
struct LatentPosterior {
  Measured log_evidence;
  Tensor mean, mean_se;        ///< [M, O]
  Tensor within, within_se;    ///< [M, M]: ⟨C_z⟩
  Tensor between, between_se;  ///< [O, M, M]: Cov(m_z) for each output

  // Draws from the posterior: the particles after the last sweep of every replicate, S in total.
  Tensor latents;    ///< [S, D]
  Tensor means;      ///< m_z [S, M, O]
  Tensor variances;  ///< The diagonals of C_z [S, M]

  std::int64_t stages = 0;  ///< Number of values of β in the last replicate.
  std::int64_t judged = 0;  ///< Total number of likelihood evaluations.

  /// Covariance [M, M] of one output of f (without noise), and its diagonal [M].
  Tensor covariance(std::int64_t output = 0) const;
  Tensor variance(std::int64_t output = 0) const;
};

/// kernel over N + M inputs, training inputs first; targets [N] or [N, O]; `inputs` is N + M.
/// Outputs are independent given z. Advances rng by one block. Throws Error where shapes disagree,
/// if σ² is not positive, and as tempered_smc does.
LatentPosterior sample_posterior(const infinite::LatentKernel& kernel, std::int64_t inputs,
                                 const Tensor& targets, const LatentPosteriorOptions& options,
                                 Generator& rng);

/// Draws functions f* at the test inputs given latents [F, D], one per row: [F, M, O]. For a
/// posterior's latents they are exact draws from the posterior of f. Advances rng by one block.
/// Throws Error as sample_posterior does.
Tensor draw_functions(const infinite::LatentKernel& kernel, std::int64_t inputs,
                      const Tensor& targets, double noise, const Tensor& latents, Generator& rng);

/// The likelihood used by sample_posterior: ln N(y; 0, K_z + σ²) for rows z, summed over outputs.
LogLikelihood latent_likelihood(const infinite::LatentKernel& kernel, const Tensor& targets,
                                double noise);

}  // namespace ladon
