#pragma once
// The settings of a run.

#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"

namespace ladon::example {

struct Settings {
  CommonOptions common;
  std::vector<std::string> mnist, cifar, reviews;  ///< Two files each; all empty: a generated task.
  std::string glove;                               ///< Word vectors, for reviews.
  int train = 0, test = 0, patch = 0;  ///< Rows, side of an image's patches; 0: the task's default.
  int tokens = 32, span = 3;           ///< A review's tokens, and the words that one stands for.
  int skip = 100;                      ///< The most frequent words, which are left out.
  std::vector<std::string> models;     ///< Empty: all that suit the task.
  double bias_variance = 0.1;          ///< σ_b² of every linear layer.
  double sharpness = 1;                ///< σ_Q·σ_K of attention.
  double kept = 0.25;                  ///< α of residual attention.
  std::int64_t memory_budget = 2048;   ///< MB that a Gram matrix may take.
  std::filesystem::path checkpoint;    ///< Folder of finished tiles; empty: none.
  std::string solver = "memory";       ///< Or "direct" or "cg": kernels are tiles in that folder.
  bool finite = true;                  ///< Train the finite networks too.
  int width = 128, epochs = 20;        ///< Of the finite networks.
  double learning_rate = 0.01;
};

}  // namespace ladon::example
