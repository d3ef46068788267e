#pragma once
// Graphs inside of a derivative: what a rule records and sweeps by itself.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// x as the beginning of a graph of its own; still a dual number where it is one.
Tensor as_leaf(const Tensor& x);

/// x at a new place in the graph, so that a sweep that ends there does not go on through x to
/// another input that x depends on.
Tensor alias(const Tensor& x);

/// The gradients of ⟨cotangent, output⟩ by `ends`, for a sweep that runs inside of another one and
/// hands them to it: it stops at each end, whose hooks are the outer sweep's to call. Undefined
/// where none arrives. The graph is kept.
std::vector<Tensor> grad_up_to(const std::vector<Tensor>& ends, const Tensor& output,
                               const Tensor& cotangent, bool create_graph);

}  // namespace ladon::detail
