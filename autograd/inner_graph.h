#pragma once
// Inner graphs: graphs that the gradient rule of an operation records during a backward pass, and
// differentiates itself.

#include <cstdint>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// x as a leaf of a new graph; a dual number keeps its tangent.
Tensor as_leaf(const Tensor& x);

/// x as the output of a new identity operation, so that a backward pass that ends at this operation
/// does not continue through x to another input that x depends on.
Tensor alias(const Tensor& x);

/// The gradients of ⟨cotangent, output⟩ with respect to `ends`, computed by a backward pass inside
/// another one. The inner pass stops at the `ends`; the outer pass calls their hooks and continues
/// from them. A gradient is undefined if `output` does not depend on that end. The graph is kept.
std::vector<Tensor> grad_up_to(const std::vector<Tensor>& ends, const Tensor& output,
                               const Tensor& cotangent, bool create_graph);

/// Tensors that a function captured, found from its `output`: the leaves on which `output` depends,
/// and the results of operations that were recorded before the function ran (their nodes have
/// numbers below `first`). Each is returned as a scalar that shares the tensor's node. Tensors in
/// `known`, such as the function's arguments, are left out.
std::vector<Tensor> captured_by(const Tensor& output, const std::vector<Tensor>& known,
                                std::uint64_t first);

}  // namespace ladon::detail
