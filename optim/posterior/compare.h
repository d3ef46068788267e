#pragma once
// Comparison of approximate posteriors of a network with the exact one.
//
//   const RegressionTask task = wide_heads_task({.dim = 4, .heads = 4}, inputs, targets, 0.05);
//   const LatentPosterior exact = sample_posterior(…);                       // latent_posterior.h
//   for (const auto& row : compare_posterior(task, belief_of(exact), {"hmc", "svgd"}, {}, rng))
//     …  row.score.variance_ratio …
//
// All methods infer the weights Θ [P, D] of P whole networks, with the same prior and likelihood;
// their predictions of f at the test inputs are scored against the exact posterior (belief.h).

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/optim/posterior/belief.h"
#include "ladon/optim/posterior/regression.h"

namespace ladon {

struct CompareOptions {
  std::int64_t members = 20;  ///< P: number of networks, particles or chains.
  /// Number of gradients per member. Samplers use 4·steps gradients and discard their first half.
  std::int64_t steps = 1200;
  double lr = 0.03;  ///< Adam's learning rate for methods that optimize; cosine decay to 0.
  /// Prior covariance [N + M, N + M] of f at the training and test inputs, for function_svgd.
  Tensor prior_kernel = {};
  /// Called after each method with its name. May throw, to stop.
  std::function<void(const std::string& method)> progress = {};
};

/// Result of a method: S functions that represent its posterior at the M test inputs.
struct PosteriorRun {
  Tensor functions;            ///< Values [S, M] of draws, or of members of an ensemble.
  std::int64_t gradients = 0;  ///< Number of gradient evaluations of single networks.
};

/// The names accepted by run_posterior_method:
///   hmc                Hamiltonian Monte Carlo (samplers/hmc.h): P chains, pooled
///   sgld, sghmc        with exact gradients, P chains pooled (samplers/langevin.h, sghmc.h)
///   spos               α = 1, b = 1; draws of P particles over time (particles/spos.h)
///   svgd, svgd_auto    P particles after the last step; α = 1, or automatic (particles/alpha.h)
///   wgd                P particles after the last step; α = 1 (particles/wgd.h)
///   function_svgd      SVGD between functions, with a Gaussian process as their prior
///   ensemble           P posterior modes, each from its own initial weights
///   randomized_prior   P modes, each with a prior centred at its initial weights and with separate
///                      noise added to the targets (Osband, Aslanides and Cassirer 2018)
///   prior              P draws from the prior, without training
///   sgld_minibatch     sgld with a quarter of the targets in each gradient and the same step size,
///                      so that minibatch noise adds to the sampler's noise
std::vector<std::string> posterior_methods();

/// Runs one method. Its random numbers depend on its name and `rng` alone, not on which other
/// methods run. Advances rng by one block (core/random.h). Throws Error for an unknown name
/// (listing the known ones), for numbers out of range, and for function_svgd without a prior_kernel
/// of the right shape.
PosteriorRun run_posterior_method(const std::string& method, const RegressionTask& task,
                                  const CompareOptions& options, Generator& rng);

struct PosteriorRow {
  std::string method;
  BeliefScore score;
  std::int64_t gradients = 0;
};

/// Runs `methods`, and scores each against the truth. Advances rng by one block (core/random.h).
std::vector<PosteriorRow> compare_posterior(const RegressionTask& task, const Belief& truth,
                                            const std::vector<std::string>& methods,
                                            const CompareOptions& options, Generator& rng);

}  // namespace ladon
