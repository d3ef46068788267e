#pragma once
// One description of a model: it gives the finite network and, by limit(), its infinite width.

#include <string>
#include <vector>

#include "ladon/examples/gp_classify/data.h"
#include "ladon/layers/layers.h"

namespace ladon::example {

struct Model {
  const char *name, *description;
  bool hidden = true;  ///< Three hidden layers; else none.
  bool tokens = true;  ///< Sees sequences of tokens; else one vector per input.
  bool attends = false, residual = false;
  /// Readout of tokens: side by side, which needs equally many, or as their mean.
  bool side_by_side = true, mean = true;  ///< Both: the first of them that the task allows.

  const infinite::Inputs& inputs(const Examples& examples) const {
    return tokens ? examples.tokens : examples.dense;
  }
};

/// The network with hidden layers of this width. Its limit does not depend on width or generator.
Sequential network(const Model& model, const Task& task, const Settings& settings,
                   std::int64_t width, Generator& rng);

/// Attention that each patch of an image gets, mean over the heads and over the patches that
/// attend: images as tokens [N, rows, columns, d] → f64 [N, rows, columns], which sums to 1 over an
/// image. Undefined for a network without attention.
Tensor attention_on_patches(const Sequential& net, const Tensor& images);

/// Names of all models.
std::vector<std::string> model_names();

/// The models that the settings name, or all that suit the task. Throws Error for one that does not
/// suit it.
std::vector<Model> choose_models(const Task& task, const Settings& settings);

}  // namespace ladon::example
