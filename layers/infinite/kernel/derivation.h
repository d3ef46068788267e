#pragma once
// A limit's graph as a text that a reader can follow on paper, and as a picture.

#include <string>

#include "ladon/layers/infinite/kernel/graph.h"

namespace ladon::infinite {

/// What the layers make of kernels, step by step: the layer's place and description, and below them the
/// formulas of the NNGP kernel k and, where it is wanted, of the NTK t, numbered by step. Steps that the
/// outputs do not depend on are left out.
std::string derivation(const KernelGraph& graph);

/// The same steps in Graphviz's language, arrows from what is mapped to what is made:
///   std::ofstream("limit.dot") << to_dot(*limit(model).graph());
std::string to_dot(const KernelGraph& graph);

}  // namespace ladon::infinite
