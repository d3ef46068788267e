#pragma once
// One-dimensional regression on sequences: a number s becomes two tokens of three channels, and an
// attention network maps them to a number.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/examples/common/common_options.h"
#include "ladon/layers/attention/wide_heads.h"
#include "ladon/layers/containers.h"

namespace ladon::example {

struct TaskSettings {
  CommonOptions common;
  std::vector<std::int64_t> heads = {1, 4, 64};  ///< H of the networks whose posterior is found.
  std::int64_t draws = 5;                        ///< Number of data sets.
  std::int64_t particles = 1600;                 ///< Particles for one head; fewer for more heads.
  std::string labels = "gp";  ///< Source of the targets: "gp" (the limit) or "one" (a head).
  std::string scaling = "sqrt";
};

constexpr double noise = 0.02;  ///< Variance σ² of the targets' noise.

/// Inputs s of the targets, and inputs at which functions are compared, in [−3, 3].
Tensor training_places();  // [N]
Tensor test_places();      // [M]

/// Tokens of training and test inputs [N + M, 2, 3]: smooth curves √2·cos(w·s + b), with w and b
/// per token and channel from a fixed seed. There are two tokens because softmax over two keys has
/// its limit in closed form.
Tensor inputs();

/// The network: infinitely wide heads, softmax, mean over positions. With linear scaling, which
/// serves as a control, the logits of a wide head are 0, all heads are equal, and any number of
/// heads gives the Gaussian process.
WideHeadsOptions network(const TaskSettings& settings, std::int64_t heads);
/// The network that network() describes, as a model whose infinite-width limit can be computed.
Sequential limit_model(const TaskSettings& settings);

/// Kernel of infinitely many heads over training and test inputs [N + M, N + M].
Tensor limit_kernel(const TaskSettings& settings);

/// Targets [N] of data set `draw`: a function drawn from the limit, or from one head, plus noise.
Tensor targets(const TaskSettings& settings, const Tensor& kernel, std::int64_t draw);

}  // namespace ladon::example
