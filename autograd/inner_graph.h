#pragma once
// Graphs inside a derivative: those that a rule records and sweeps itself.

#include <cstdint>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// x as a leaf of a new graph; keeps its tangent if it is a dual number.
Tensor as_leaf(const Tensor& x);

/// x as the output of a new node, so that a sweep that ends there does not continue through x to
/// another input that x depends on.
Tensor alias(const Tensor& x);

/// The gradients of ⟨cotangent, output⟩ with respect to `ends`, for a sweep that runs inside
/// another one and passes them to it: it stops at each end, and leaves the hooks of the ends to the
/// outer sweep. Undefined where no gradient arrives. The graph is kept.
std::vector<Tensor> grad_up_to(const std::vector<Tensor>& ends, const Tensor& output,
                               const Tensor& cotangent, bool create_graph);

/// Tensors that a function captured: those on which `output` depends and that existed before node
/// `first`, parameters and results alike. (Leaves count as captured whenever they were made.) Each
/// is returned as a scalar that shares the tensor's node; `known` ones are left out.
std::vector<Tensor> captured_by(const Tensor& output, const std::vector<Tensor>& known,
                                std::uint64_t first);

}  // namespace ladon::detail
