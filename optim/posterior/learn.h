#pragma once
// Learning of hyper-parameters of an infinitely wide network from data, by gradient ascent on the
// marginal likelihood (type-II maximum likelihood; Rasmussen and Williams 2006, chapter 5).

#include <functional>
#include <string>
#include <vector>

#include "ladon/layers/infinite/gram/gram.h"

namespace ladon {

/// Results of one step.
struct LearningStep {
  int step = 0;
  double log_likelihood = 0;
  double noise = 0;  ///< Variance, in the units of the targets.
};

struct LearnOptions {
  int steps = 40;
  double learning_rate =
      0.1;               ///< Adam's rate on logarithms: a step changes a hyper-parameter by at most
                         ///< about this fraction.
  double noise = 0.1;    ///< Initial noise, in units of the mean of the kernel's diagonal.
  double jitter = 1e-8;  ///< As in GpOptions.
  /// Options of the Gram matrices; get, checkpoint and progress are ignored.
  infinite::GramOptions gram = {};
  std::function<void(const LearningStep&)> progress = {};
};

/// Result of learn_hyperparameters(). If layers draw random numbers, all steps use the same draws,
/// in the coordinates found by the first step, so that steps differ by their hyper-parameters
/// alone. The best step was selected with its own draws; its log likelihood is therefore recomputed
/// from as many new draws, without the bias of that selection.
struct LearnedHyperparameters {
  struct Parameter {
    std::string path;
    double before, after;
  };
  std::vector<Parameter> parameters;
  std::vector<LearningStep> steps;  ///< The first has the model's initial hyper-parameters.
  LearningStep best;  ///< The step whose hyper-parameters the model has now. If layers draw,
                      ///< log_likelihood is recomputed from options.gram.replicates new replicates.
};

/// Maximizes ln p(targets | x) over every hyper-parameter of the model that is not 0 and over the
/// noise, and leaves the model with the best values found. The NNGP kernel of x is that of
/// limit(model), which must end in vectors; targets [N] or [N, O]. Each step computes a Gram matrix
/// and its gradient, tile by tile (infinite::backward_gram). Throws Error as gram() and
/// log_marginal_likelihood() do, if there is no hyper-parameter, and if one is negative; the model
/// is then unchanged. The learned hyper-parameters require no gradient.
LearnedHyperparameters learn_hyperparameters(Layer& model, const infinite::Inputs& x,
                                             const Tensor& targets,
                                             const LearnOptions& options = {});

}  // namespace ladon
