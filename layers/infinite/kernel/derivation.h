#pragma once
// A limit's graph printed as a derivation, which can be followed on paper, and as a picture.

#include <string>
#include <vector>

#include "ladon/layers/infinite/kernel/graph.h"

namespace ladon::infinite {

/// One step of a derivation, its kernels numbered: "k₃", "E[φ(u)·φ(v)], (u, v) ~ N(0, k₂), φ = …".
struct DerivedStep {
  std::string layer;  ///< The layer's path in the model, and its description.
  int number;
  std::string nngp, ntk;  ///< Formulas; ntk is empty unless requested.
};
/// Steps of the graph that the outputs depend on, in order.
std::vector<DerivedStep> derived_steps(const KernelGraph& graph);

/// Text of derived_steps(): a line per layer, followed by "k₃ = …" and "t₃ = …".
std::string derivation(const KernelGraph& graph);

/// Graph of derived_steps() in Graphviz's language, with arrows from inputs to outputs:
///   std::ofstream("limit.dot") << to_dot(*limit(model).graph());
std::string to_dot(const KernelGraph& graph);

}  // namespace ladon::infinite
