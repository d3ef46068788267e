#pragma once
// Drawing of the recorded graph as text in the DOT language.

#include <string>
#include <utility>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// Returns the graph that `output` was computed by, in the DOT language (dot -Tsvg draws it): a box
/// for each operation, with inputs above and the output below, and an ellipse for each leaf, with
/// names, shapes and dtypes. Tensors listed in `names` (model.named_parameters()) get those names.
/// Nodes are numbered from 0 in recording order, so the same computation gives the same text, even
/// after backward(), which frees saved tensors but not the graph. Throws Error if `output` records
/// no history.
///
///   std::ofstream("graph.dot") << to_dot(loss, model.named_parameters());
std::string to_dot(const Tensor& output,
                   const std::vector<std::pair<std::string, Tensor>>& names = {});

}  // namespace ladon
