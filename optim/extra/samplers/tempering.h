#pragma once
// Parallel tempering: replicas at several temperatures, of which the hot ones move between modes,
// and swaps that carry these states to the cold one (Swendsen and Wang 1986; Geyer 1991).

#include <cstdint>
#include <functional>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/optim/samplers/chains.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon {

/// Options as in HmcOptions, with inverse temperatures; ε is always adapted, and each level has its
/// own ε and M.
struct TemperingOptions {
  /// The inverse temperatures: 1 first, then decreasing. Empty: `levels` values in geometric
  /// progression from 1 to `lowest`.
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

struct Tempered {
  /// Chains of the level β = 1. Chain c belongs to ensemble c; its draws come from all replicas of
  /// that ensemble. `gradients` counts the rows of all levels.
  Chains chains;
  std::vector<double> betas;  ///< [K]
  std::vector<double> steps;  ///< [K]: ε of each level.
  /// [K − 1]: mean swap probability of levels k and k + 1 after warm-up; NaN if no swap was
  /// proposed. With r = 1 − rate, Σ r estimates the communication barrier Λ between both ends. Good
  /// betas give equal rates with about 2Λ levels (Syed et al. 2022).
  std::vector<double> swap_rates;
  /// [C]: round trips of replicas from β = 1 to the lowest and back, after warm-up: with n draws at
  /// most n/(2 + 2 Σ r/(1 − r)), if moves decorrelate between swaps (ibid.). If there are few, the
  /// chains' weights of the modes are unreliable, whatever R̂ is.
  std::vector<std::int64_t> round_trips;
};

/// C ensembles of K replicas; all replicas of ensemble c start at row c of start [C, D]. Level k
/// has the density base(θ)·likelihood(θ)^β_k. A draw moves every replica as hmc() does, with one
/// score() of K·C rows per leapfrog step, and then proposes swaps of levels (0, 1), (2, 3), … at
/// even draws and of (1, 2), (3, 4), … at odd ones, which moves replicas through the levels faster
/// than random pairs do (Syed, Bouchard-Côté, Deligiannidis and Doucet 2022, arXiv 1905.02939). The
/// last β may be 0 if base is a proper density: the prior. Warm-up, rejection, random numbers and
/// Errors as in hmc(); Error also for invalid betas, and for densities of different dimension.
Tempered parallel_tempering(const LogDensity& base, const LogDensity& likelihood,
                            const Tensor& start, const TemperingOptions& options, Generator& rng);

/// Parallel tempering without a base: level k has the density p(θ)^β_k, β > 0.
Tempered parallel_tempering(const LogDensity& p, const Tensor& start,
                            const TemperingOptions& options, Generator& rng);

}  // namespace ladon
