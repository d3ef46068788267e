#pragma once
// Parallel tempering: replicas run at several temperatures. Hot replicas move between modes, and
// swaps carry their states to the cold replica (Swendsen and Wang 1986; Geyer 1991).

#include <cstdint>
#include <functional>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/optim/samplers/chains.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon {

/// Options as in HmcOptions, and the inverse temperatures β of the levels. The step size ε is
/// always adapted; each level has a separate ε and mass matrix M.
struct TemperingOptions {
  /// Inverse temperatures β, decreasing from 1. If empty, they are `levels` values in geometric
  /// progression from 1 to `lowest`; otherwise these two must have their defaults (Error).
  std::vector<double> betas = {};
  std::int64_t levels = 8;
  double lowest = 0.01;
  std::int64_t draws = 1000;
  std::int64_t warmup = 1000;
  std::int64_t thin = 1;
  std::int64_t steps = 10;
  double target_accept = 0.8;
  bool adapt_mass = true;
  std::function<void(std::int64_t done, std::int64_t of)> progress = {};
};

/// Result of C ensembles of K levels.
struct Tempered {
  /// Chains of the level β = 1. Chain c contains the draws at β = 1 of ensemble c, whichever
  /// replica is there. `gradients` counts the gradient evaluations of all levels.
  Chains chains;
  std::vector<double> betas;  ///< [K]: β of each level.
  std::vector<double> steps;  ///< [K]: step size ε of each level.
  /// [K − 1]: mean probability of swaps between levels k and k + 1 after warm-up; NaN if no swap
  /// was proposed. With r = 1 − rate, Σ r over levels estimates the communication barrier Λ between
  /// the first and the last level. Good betas give equal rates, with about 2Λ levels (Syed et al.
  /// 2022).
  std::vector<double> swap_rates;
  /// [C]: number of round trips of replicas from β = 1 to the lowest β and back, after warm-up. Its
  /// expectation for n draws is at most n/(2 + 2 Σ r/(1 − r)), if moves decorrelate states between
  /// swaps (Syed et al. 2022). If there are few round trips, the fractions of draws in each mode
  /// are unreliable, whatever R̂ is.
  std::vector<std::int64_t> round_trips;
};

/// Runs C ensembles of K replicas; all replicas of ensemble c start at row c of start [C, D]. Level
/// k has the density ∝ base(θ)·likelihood(θ)^β_k. A draw moves every replica as hmc() does, with
/// one score() of K·C rows per leapfrog step, and then proposes swaps of levels (0, 1), (2, 3), …
/// at even draws and of levels (1, 2), (3, 4), … at odd draws, which moves replicas through the
/// levels faster than swaps of random pairs (Syed, Bouchard-Côté, Deligiannidis and Doucet 2022,
/// arXiv 1905.02939). The last β may be 0 if base is a proper density, such as a prior. Warm-up,
/// rejection, random numbers and Errors are as in hmc(); also throws Error for invalid betas, and
/// for densities of different dimension.
Tempered parallel_tempering(const LogDensity& base, const LogDensity& likelihood,
                            const Tensor& start, const TemperingOptions& options, Generator& rng);

/// Parallel tempering without a base density: level k has the density ∝ p(θ)^β_k, β_k > 0.
Tempered parallel_tempering(const LogDensity& p, const Tensor& start,
                            const TemperingOptions& options, Generator& rng);

}  // namespace ladon
