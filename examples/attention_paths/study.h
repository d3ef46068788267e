#pragma once
// Weights of paths at finite width: the theory's saddle point, the exact posterior, the network
// itself.

#include <string>
#include <vector>

#include "ladon/examples/attention_paths/task.h"
#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/report.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  int seeds = 2;
  std::vector<std::int64_t> widths = {10, 100, 1000};  ///< N of every layer.
  std::vector<std::int64_t> exact_widths = {10};  ///< Widths whose posterior is sampled exactly.
  std::vector<std::int64_t> network_widths = {};  ///< Widths whose network is sampled.
  std::int64_t particles = 60;                    ///< Per run; there are two replicates.
  std::int64_t draws = 1000;                      ///< Per chain; 16 chains over all weights.
};

/// Accuracies of predictions by posterior means, one per seed.
struct Predictor {
  std::string name;
  std::vector<double> accuracy = {};
};

/// The order parameter at one width, per seed.
struct Order {
  std::int64_t width = 0;
  std::vector<std::vector<double>> entries = {};  ///< Per seed, U row by row [16].
};

struct Study {
  std::vector<Predictor> predictors;
  std::vector<Order> orders;
  Table exacts;    ///< First seed: exact posterior and saddle point.
  Table networks;  ///< The network sampled in all its weights, on a smaller instance.
  bool interrupted = false;
};

Study run_study(const Settings& settings);

/// Accuracy of mean predictors, their gain over the Gaussian process, and their loss relative to
/// the first width.
Table predictor_table(const Study& study);
/// Entries of the order parameter and scores of heads, per width.
Table order_table(const Study& study);

/// Accuracy against the width, and the order parameter as a heat map.
void draw(const Settings& settings, const Study& study);

/// Posterior of the network, by draws of all its weights, N(0, 1) under the prior:
///   f = a·Σ_{h₂} W_{2,h₂} Σ_{h₁} W_{1,h₁}·V·ξ_{h₁h₂} / scales,
/// where V is N × d, each W is N × N, and a has N entries; the scales are √d, √N and √(2N) per
/// layer, and √N.
struct NetworkDraws {
  std::int64_t weights = 0;
  Tensor mean;       ///< Mean of f at the test chains [M].
  double error = 0;  ///< Its Monte Carlo standard error, root mean square over the test chains.
  double rhat = 0;   ///< Largest R̂ over the test chains.
};

/// Samples by 16 chains of Hamiltonian Monte Carlo that start from the prior, with as many warm-up
/// draws as kept ones. At equal total numbers of leapfrog steps, chains with 100 per draw agree
/// better than with 15.
NetworkDraws sample_network(const Task& task, std::int64_t width, std::int64_t draws,
                            Generator& rng);

}  // namespace ladon::example
