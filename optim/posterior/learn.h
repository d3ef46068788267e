#pragma once
// Hyper-parameters of an infinitely wide network, learned from data: by the gradient of the
// marginal likelihood (type-II maximum likelihood; Rasmussen and Williams 2006, chapter 5).

#include <functional>
#include <string>
#include <vector>

#include "ladon/layers/infinite/gram/gram.h"

namespace ladon {

/// Figures of one step.
struct LearningStep {
  int step = 0;
  double log_likelihood = 0;
  double noise = 0;  ///< Variance, in the units of the targets.
};

struct LearnOptions {
  int steps = 40;
  double learning_rate =
      0.1;               ///< Of Adam on logarithms: at most about this much of a factor a step.
  double noise = 0.1;    ///< At the beginning, in units of the mean of the kernel's diagonal.
  double jitter = 1e-8;  ///< As GpOptions.
  /// Options of the Gram matrices; get, checkpoint and progress do not count.
  infinite::GramOptions gram = {};
  std::function<void(const LearningStep&)> progress = {};
};

/// Result of learn_hyperparameters(). Where layers draw, all steps use the same draws, in the
/// coordinates that the first step found: steps differ by their hyper-parameters alone. The best
/// step suits its own draws, so its log likelihood is computed from as many other draws, without a
/// bias from that choice.
struct LearnedHyperparameters {
  struct Parameter {
    std::string path;
    double before, after;
  };
  std::vector<Parameter> parameters;
  std::vector<LearningStep> steps;  ///< The first is of what the model came with, up to the noise.
  LearningStep best;  ///< The one that the model has now. Where layers draw, log_likelihood is by
                      ///< options.gram.replicates replicates that no step has seen.
};

/// Ascends ln p(targets | x) by every hyper-parameter of the model that is not 0 and by the noise,
/// and leaves the model with the best that it met. The NNGP kernel of x is that of limit(model),
/// which must end in vectors; targets [N] or [N, O]. A Gram matrix a step and its gradient, tile by
/// tile (infinite::backward_gram). Throws Error as gram() and log_marginal_likelihood() do, where
/// there is no hyper-parameter, and where one is negative; the model is as before then. What was
/// learned requires no gradient.
LearnedHyperparameters learn_hyperparameters(Layer& model, const infinite::Inputs& x,
                                             const Tensor& targets,
                                             const LearnOptions& options = {});

}  // namespace ladon
