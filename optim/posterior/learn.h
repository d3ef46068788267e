#pragma once
// Learns hyper-parameters of an infinitely wide network from data, by gradient ascent on the
// marginal likelihood (type-II maximum likelihood; Rasmussen and Williams 2006, chapter 5).

#include <functional>
#include <string>
#include <vector>

#include "ladon/layers/infinite/gram/gram.h"

namespace ladon {

/// Log marginal likelihood and noise before one step of the optimizer.
struct LearningStep {
  int step = 0;  ///< Number of steps made before.
  double log_likelihood = 0;
  double noise = 0;  ///< Noise variance, in squared units of the targets.
};

struct LearnOptions {
  int steps = 40;
  double learning_rate =
      0.1;               ///< Adam's learning rate on the logarithms of hyper-parameters: a step
                         ///< changes a hyper-parameter by at most about this fraction.
  double noise = 0.1;    ///< Initial noise variance, in units of the mean of the kernel's diagonal.
  double jitter = 1e-8;  ///< As in GpOptions.
  /// Options for computing Gram matrices, of the NNGP kernel whatever `get` is. Throws Error for a
  /// `checkpoint` or `progress`: kernels change in each step.
  infinite::GramOptions gram = {};
  std::function<void(const LearningStep&)> progress = {};
};

/// Result of learn_hyperparameters(). If the kernels of some layers are Monte Carlo estimates, all
/// steps use the same random draws, so that their log likelihoods differ by the hyper-parameters
/// alone. Because the best step is selected on these draws, its log likelihood would be biased
/// upwards; it is therefore recomputed from as many new draws.
struct LearnedHyperparameters {
  struct Parameter {
    std::string path;
    double before, after;
  };
  std::vector<Parameter> parameters;
  std::vector<LearningStep> steps;  ///< The first has the model's initial hyper-parameters.
  LearningStep best;  ///< The step whose hyper-parameters the model has now. If layers draw random
                      ///< numbers, log_likelihood is recomputed from new draws, as many replicates
                      ///< as options.gram.replicates.
};

/// Maximizes ln p(targets | x) over the noise variance and every hyper-parameter of the model that
/// is not 0, and sets the model's hyper-parameters to the best values found. ln p is the log
/// marginal likelihood under the NNGP kernel of limit(model), which must map each input to a
/// vector; targets are [N] or [N, O]. Each step computes a Gram matrix and its gradient, tile by
/// tile (infinite::backward_gram). Throws the Errors of gram() and log_marginal_likelihood(), and
/// an Error for options out of range, if there is no hyper-parameter, or if a hyper-parameter is
/// negative; the model is then unchanged. The learned hyper-parameters require no gradient.
LearnedHyperparameters learn_hyperparameters(Layer& model, const infinite::Inputs& x,
                                             const Tensor& targets,
                                             const LearnOptions& options = {});

}  // namespace ladon
