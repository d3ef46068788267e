#pragma once
// Measurements of a trained classifier.

#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/repulsive_heads/model.h"
#include "ladon/examples/repulsive_heads/task.h"
#include "ladon/optim/particles/method.h"

namespace ladon::example {

/// Attention of the heads in test sequences.
struct HeadMaps {
  Tensor similarity;  ///< [heads, heads]: cosine of attention maps, mean over layers.
  /// [heads, rules]: the last layer's attention on the token that answers each rule's question,
  /// from where the answers are read. Undefined where nobody knows that token.
  Tensor right_tokens;
};
HeadMaps head_maps(Classifier& model, const Task& task);

/// Probabilities [sequences·questions, classes] and labels of a list of batches.
struct Predictions {
  Tensor probabilities, labels;
};
Predictions predict(Classifier& model, const std::vector<TextBatch>& batches);

/// Mean distance between two heads' parameters: of the blocks W_q, W_k, W_v of all layers.
double head_distance(const Particles& heads);

/// Which heads look at the rules' tokens, of a matrix `right_tokens`.
struct Leaders {
  std::int64_t heads = 0;  ///< That attend more to some rule's token than all other heads do.
  double attention = 0;    ///< Of the head that leads a rule on its token, mean over rules.
};
Leaders leaders(const Tensor& right_tokens);

/// Heads in the order of the rules that they look after: the largest entry of the matrix gives its
/// head to its rule, then the largest of the heads and rules that are left. Heads without a rule
/// come last.
std::vector<std::size_t> heads_by_rule(const Tensor& right_tokens);

/// Columns of the figures of a task: of its predictions, of who looks after which rule (where that
/// is known: rule_columns), and of its heads.
std::vector<Column> columns(const Task& task);
/// Number of columns of rules.
std::size_t rule_columns(const Task& task);

/// The figures of columns(), but for the last, seconds per epoch. `test` is what the model predicts
/// of the test set; `repulsion` may be null.
std::vector<double> measure(Classifier& model, const Task& task, const Predictions& test,
                            const Particles& heads, const HeadMaps& before, const HeadMaps& after,
                            const ParticleMethod* repulsion);

}  // namespace ladon::example
