#pragma once
// Weights of the paths through heads at finite width, found in three ways: by the saddle point of
// the theory (Tiberi et al. 2024), by the exact posterior, and by sampling all weights of a
// network.

#include <string>
#include <vector>

#include "ladon/examples/attention_paths/task.h"
#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/report.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  int seeds = 2;
  std::vector<std::int64_t> widths = {10, 100, 1000};  ///< N, width of every layer.
  /// Widths at which the exact posterior of U (Order) is sampled.
  std::vector<std::int64_t> exact_widths = {10};
  /// Widths at which all weights of a network are sampled.
  std::vector<std::int64_t> network_widths = {};
  std::int64_t particles = 60;  ///< Particles of each of two sequential Monte Carlo runs.
  std::int64_t draws = 1000;    ///< Draws of all weights per chain; 16 chains.
};

/// A predictor (the sign of a posterior mean of f) and its accuracy for each seed.
struct Predictor {
  std::string name;
  std::vector<double> accuracy = {};
};

/// The order parameter U (weights of all pairs of paths in the kernel) at one width, per seed.
struct Order {
  std::int64_t width = 0;
  std::vector<std::vector<double>> entries = {};  ///< U [4, 4] of each seed, row by row.
};

struct Study {
  std::vector<Predictor> predictors;
  std::vector<Order> orders;
  Table exacts;    ///< U of the first seed: exact posterior and saddle point.
  Table networks;  ///< Networks with all weights sampled, on a smaller task.
  bool interrupted = false;
};

Study run_study(const Settings& settings);

/// A row for each predictor: accuracy, gain over the Gaussian process, and how much less accurate
/// it is than the predictor "N = …" of the first width N.
Table predictor_table(const Study& study);
/// Entries of the order parameter U (Order), per width.
Table order_table(const Study& study);

/// Draws the accuracy against the width, and the order parameter U (Order) as a heat map.
void draw(const Settings& settings, const Study& study);

/// Posterior of the network, estimated from draws of all its weights, which are N(0, 1) under the
/// prior:
///   f = a·Σ_{h₂} W_{2,h₂} Σ_{h₁} W_{1,h₁}·V·ξ_{h₁h₂} / scales,
/// where ξ_{h₁h₂} [d] is the input through heads h₁ of layer 1 and h₂ of layer 2, V is N × d, each
/// W is N × N, and a has N entries; the scales are √d for V, √(2N) for the W of each layer, and √N
/// for a.
struct NetworkDraws {
  std::int64_t weights = 0;
  Tensor mean;       ///< Mean of f at the test inputs [M].
  double error = 0;  ///< Monte Carlo standard error of `mean`, RMS over test inputs.
  double rhat = 0;   ///< Largest R̂ of f over test inputs.
};

/// Samples the weights by 16 chains of Hamiltonian Monte Carlo that start from the prior; each
/// makes as many warm-up draws as it keeps. A draw takes 100 leapfrog steps: at an equal total
/// number of steps, the chains agree better than with 15 steps per draw.
NetworkDraws sample_network(const Task& task, std::int64_t width, std::int64_t draws,
                            Generator& rng);

}  // namespace ladon::example
