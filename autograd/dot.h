#pragma once
// A picture of what was recorded.

#include <string>
#include <utility>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// The graph that `output` was computed by, in the DOT language (dot -Tsvg draws it): a box for
/// each operation, from its inputs above to the output below, and an ellipse for each leaf, with
/// names, shapes and dtypes. Tensors in `names` (model.named_parameters()) are told by theirs.
/// Nodes are numbered from 0 in the order in which they were recorded: the same computation gives
/// the same text, also after backward(), which frees what the operations saved alone.
/// Throws Error if `output` records no history.
///
///   std::ofstream("graph.dot") << to_dot(loss, model.named_parameters());
std::string to_dot(const Tensor& output,
                   const std::vector<std::pair<std::string, Tensor>>& names = {});

}  // namespace ladon
