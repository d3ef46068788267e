#pragma once
// Combination of the kernels of branches that see the same inputs.

#include <functional>
#include <string>
#include <vector>

#include "ladon/layers/infinite/kernel/graph.h"

namespace ladon::infinite {

/// One branch: its name in errors, and its limit.
struct Branch {
  std::string name;
  std::function<KernelNode(const KernelNode&)> limit;
};
/// The branch that returns x unchanged.
Branch identity_branch();

/// Kernels of Σ_i branch_i(x): the sum of the branches' kernels. Throws Error, naming `layer` and
/// the branches, unless all but one branch end in random linear maps with separate weights: only
/// then are products of different branches zero on average.
KernelNode sum(const std::string& layer, const KernelNode& k, const std::vector<Branch>& branches);
/// Kernels of Π_i branch_i(x), elementwise: NNGP kernel Π_i k_i and NTK Σ_i t_i Π_{j≠i} k_j, for
/// kernels k_i and t_i of branch i. Throws Error where sum() does.
KernelNode product(const std::string& layer, const KernelNode& k,
                   const std::vector<Branch>& branches);
/// Kernels of the branches' concatenated channels: Σ_i share_i·k_i for the NNGP kernels k_i of the
/// branches and their shares of all channels, and likewise for the NTKs. Branches may be
/// correlated.
KernelNode concatenation(const KernelNode& k, const std::vector<Branch>& branches,
                         const std::vector<double>& share);
/// Kernels of sqrt(alpha)·x + sqrt(1 − alpha)·branch(x). Throws Error unless the branch ends in a
/// random linear map.
KernelNode residual(const std::string& layer, const KernelNode& k, double alpha,
                    const Branch& branch);

}  // namespace ladon::infinite
