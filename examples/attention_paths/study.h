#pragma once
// Finite width weighs the paths: the saddle of the theory, the exact posterior, the network itself.

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
  std::vector<std::int64_t> exact_widths = {10};  ///< Those whose posterior is sampled exactly.
  std::vector<std::int64_t> network_widths = {};  ///< Those whose network is sampled.
  std::int64_t particles = 60;                    ///< Of each of two replicates.
  std::int64_t draws = 1000;  ///< Of each of 16 chains over the network's weights.
};

/// Accuracies of mean predictors, over seeds.
struct Predictor {
  std::string name;
  std::vector<double> accuracy = {};
};

/// The order parameter at one width, over seeds.
struct Order {
  std::int64_t width = 0;
  std::vector<std::vector<double>> entries = {};  ///< Of each seed, U row by row [16].
};

struct Study {
  std::vector<Predictor> predictors;
  std::vector<Order> orders;
  Table exacts;    ///< The exact posterior beside the saddle, of the first seed.
  Table networks;  ///< The network sampled in all its weights, on a smaller instance.
  bool interrupted = false;
};

Study run_study(const Settings& settings);

/// Accuracy of mean predictors, their gain on the Gaussian process, their loss to the first width.
Table predictor_table(const Study& study);
/// Entries of the order parameter against the width, and scores of heads.
Table order_table(const Study& study);

/// Accuracy against the width, and the order parameter as a heat map.
void draw(const Settings& settings, const Study& study);

/// Draws from the posterior of the network
///   f = a·Σ_{h₂} W_{2,h₂} Σ_{h₁} W_{1,h₁}·V·ξ_{h₁h₂} / scales,   all weights N(0, 1),
/// where V is N × d, each W is N × N, a is N: divided by √d, √N and √(2N) per layer, √N.
struct NetworkDraws {
  std::int64_t weights = 0;
  Tensor mean;       ///< Of f at the test chains [M].
  double error = 0;  ///< Root mean square of its Monte Carlo standard error over the test chains.
  double rhat = 0;   ///< Largest over test chains.
};

/// 16 chains of Hamiltonian Monte Carlo from the prior, as many draws of warm-up as are kept. Of
/// as many leapfrog steps in all, 100 for each draw let chains agree better than 15 do.
NetworkDraws sample_network(const Task& task, std::int64_t width, std::int64_t draws,
                            Generator& rng);

}  // namespace ladon::example
