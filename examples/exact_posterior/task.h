#pragma once
// One-dimensional regression on sequences: a number s becomes two tokens of three channels, and a
// network of attention gives a number back.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/examples/common/common_options.h"
#include "ladon/layers/attention/variants/wide_heads.h"
#include "ladon/layers/containers.h"

namespace ladon::example {

struct TaskSettings {
  CommonOptions common;
  std::vector<std::int64_t> heads = {1, 4, 64};  ///< H of the networks whose posterior is found.
  std::int64_t draws = 5;                        ///< Data sets.
  std::int64_t particles = 1600;  ///< Of sequential Monte Carlo at one head; fewer at more.
  std::string labels = "gp";      ///< Source of the targets: the limit, or one head.
  std::string scaling = "sqrt";
};

constexpr double noise = 0.02;  ///< σ² of targets.

/// Places of the targets, and of the functions shown; s goes from −3 to 3.
Tensor training_places();  // [N]
Tensor test_places();      // [M]

/// The tokens of training and test places [N + M, 2, 3]. Smooth curves, √2·cos(w·s + b) with w and
/// b of each token and channel from a fixed seed. Two tokens, because softmax over two keys has its
/// limit in closed form.
Tensor inputs();

/// The network: infinitely wide heads, softmax, mean over positions. With linear scaling the logits
/// of a wide head are 0, all heads are alike, and every number of them is the Gaussian process: a
/// control.
WideHeadsOptions network(const TaskSettings& settings, std::int64_t heads);
/// The same as a model whose limit is known.
Sequential limit_model(const TaskSettings& settings);

/// K of infinitely many heads over training and test places [N + M, N + M].
Tensor limit_kernel(const TaskSettings& settings);

/// Targets [N] of data set `draw`: a function of the limit, or of one head, and noise.
Tensor targets(const TaskSettings& settings, const Tensor& kernel, std::int64_t draw);

}  // namespace ladon::example
