#pragma once
// Approximate posteriors of a network beside its exact one.
//
//   const RegressionTask task = wide_heads_task({.dim = 4, .heads = 4}, inputs, targets, 0.05);
//   const LatentPosterior exact = sample_posterior(…);                       // latent_posterior.h
//   for (const auto& row : compare_posterior(task, belief_of(exact), {"hmc", "svgd"}, {}, rng))
//     …  row.score.variance_ratio …
//
// All methods move the same weights Θ [P, D], P whole networks, under the same prior and
// likelihood; what they say of f at the test inputs is held against the truth (belief.h).

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/optim/posterior/belief.h"
#include "ladon/optim/posterior/regression.h"

namespace ladon {

struct CompareOptions {
  std::int64_t members = 20;  ///< P: networks, particles or chains.
  /// Gradients of each of them. Samplers take four times as many, the first half of which is
  /// forgotten; what is optimized is done with fewer.
  std::int64_t steps = 1200;
  double lr = 0.03;  ///< Of Adam, for what is optimized; falls to 0 as a cosine.
  /// K of functions [N + M, N + M], for function_svgd: the covariance of functions before training.
  Tensor prior_kernel = {};
  /// Told after each method. May throw, to end the work.
  std::function<void(const std::string& method)> progress = {};
};

/// Result of a method: its belief about f at the test inputs.
struct PosteriorRun {
  Tensor functions;            ///< Draws, or members of the ensemble, [S, M].
  std::int64_t gradients = 0;  ///< Of networks, in all.
};

/// The names that run_posterior_method knows:
///   hmc                Hamiltonian Monte Carlo (samplers/hmc.h): P chains, pooled
///   sgld, sghmc        with exact gradients, P chains pooled (samplers/langevin.h, sghmc.h)
///   spos               α = 1, b = 1, P particles over time (particles/spos.h)
///   svgd, svgd_auto    P particles at their end; α = 1, or automatic (particles/alpha.h)
///   wgd                α = 1
///   function_svgd      forces between functions, under the Gaussian process's prior of them
///   ensemble           P posterior modes, each from a start of its own
///   randomized_prior   each mode pulled to its own start, and towards targets with its own noise
///                      (Osband, Aslanides and Cassirer 2018)
///   prior              P draws, without training
///   sgld_minibatch     sgld with a quarter of the targets in each gradient, and the same step: the
///                      noise of batches adds to its own
std::vector<std::string> posterior_methods();

/// Runs one. A method's numbers depend on its name and `rng` alone, not on the other methods.
/// Advances rng by one block. Throws Error for an unknown name (listing them), for numbers out of
/// range, and for function_svgd without a prior_kernel of its shape.
PosteriorRun run_posterior_method(const std::string& method, const RegressionTask& task,
                                  const CompareOptions& options, Generator& rng);

struct PosteriorRow {
  std::string method;
  BeliefScore score;
  std::int64_t gradients = 0;
};

/// Runs `methods`, and scores each against the truth. Advances rng by one block.
std::vector<PosteriorRow> compare_posterior(const RegressionTask& task, const Belief& truth,
                                            const std::vector<std::string>& methods,
                                            const CompareOptions& options, Generator& rng);

}  // namespace ladon
