#pragma once
// Training of one arm: a small Transformer under one condition, with or without repulsion between
// heads.

#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/rules_task.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::vector<int> questions = {1};
  std::int64_t seeds = 3, steps = 150;
  double alpha = 0.01;  ///< Weight of the repulsion.
  std::string bits;     ///< File for the answers; empty: none.
};

struct Arm {
  /// Which heads of a layer repel each other: "none"; "always": all; "layer": all, while the
  /// layer's maps are similar on average; "pairs": pairs with similar maps; "apart": pairs without
  /// similar maps.
  std::string repulsion = "none";
  double dropout = 0;        ///< Dropout of attention weights.
  bool equal_start = false;  ///< Heads start equal, except for small noise.
  std::int64_t heads = 4, sequences = 512;
};

struct Fit {
  Tensor probabilities;   ///< f64 [test sequences, rules, values]
  Tensor right, nll;      ///< f64 [test sequences]: means over a sequence's answers.
  double trained = 0;     ///< Accuracy on the first 128 training sequences.
  double redundancy = 0;  ///< Cosine of two heads' maps, mean over pairs and 128 test sequences.
  double repelled = 0;    ///< Share of pairs of heads that repelled, mean over steps.
};

RuleSequences test_sequences(const Settings& settings);
/// Trains an arm. `seed` determines training sequences, initial weights, order and dropout.
Fit fit(const Settings& settings, const Arm& arm, const RuleSequences& test, const Generator& seed);

}  // namespace ladon::example
