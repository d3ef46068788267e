#pragma once
// Parallel tempering: replicas at several temperatures, the hot ones of which cross between modes,
// and swaps that bring what they find to the cold one (Swendsen and Wang 1986; Geyer 1991).

#include <cstdint>
#include <functional>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/optim/samplers/chains.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon {

/// Options as HmcOptions, with a ladder; ε is always adapted. Each level has its own ε and M.
struct TemperingOptions {
  /// The inverse temperatures: 1 first, then falling. Empty: `levels` of them in equal ratios from
  /// 1 to `lowest`.
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
  /// Chains of the level β = 1. Chain c belongs to ensemble c, and its draws come from all replicas
  /// of that ensemble. `gradients` counts the rows of all levels.
  Chains chains;
  std::vector<double> betas;  ///< [K]
  std::vector<double> steps;  ///< [K]: ε of each level.
  /// [K − 1]: mean probability, after warm-up, that levels k and k + 1 swap; NaN if they never
  /// tried. With r = 1 − rate, Σ r estimates the communication barrier Λ between the two ends. A
  /// good ladder has equal rates and some 2Λ levels (Syed et al. 2022).
  std::vector<double> swap_rates;
  /// [C]: journeys of replicas from β = 1 to the lowest and back, after warm-up: of n draws up to
  /// n/(2 + 2 Σ r/(1 − r)), where moves forget what swaps brought (ibid.). Few: the chains cannot
  /// be trusted with the modes' weights, whatever R̂ says.
  std::vector<std::int64_t> round_trips;
};

/// C ensembles of K replicas; all replicas of ensemble c begin at row c of start [C, D]. Level k
/// has the density base(θ)·likelihood(θ)^β_k. A draw is a move of every replica as by hmc(), by one
/// score() of K·C rows a leapfrog step, and swaps of levels (0, 1), (2, 3), … at even draws and of
/// (1, 2), (3, 4), … at odd ones, which carries replicas through the ladder at a speed that random
/// pairs do not have (Syed, Bouchard-Côté, Deligiannidis and Doucet 2022, arXiv 1905.02939). β may
/// end in 0 if base is a proper density: the prior. Warm-up, refusal, random numbers and Errors as
/// in hmc(); Error also for a ladder that is none, and densities of different dimension.
Tempered parallel_tempering(const LogDensity& base, const LogDensity& likelihood,
                            const Tensor& start, const TemperingOptions& options, Generator& rng);

/// Parallel tempering without a base: level k has the density p(θ)^β_k, β > 0.
Tempered parallel_tempering(const LogDensity& p, const Tensor& start,
                            const TemperingOptions& options, Generator& rng);

}  // namespace ladon
