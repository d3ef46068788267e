#pragma once
// Containers: layers that combine other layers.

#include <memory>
#include <utility>
#include <vector>

#include "ladon/layers/layer.h"

namespace ladon {

/// The identity function, y = x; for example the skip branch of a residual block.
struct Identity : Layer {
  Tensor forward(const Tensor& x) const override { return x; }
  bool per_position() const override { return true; }
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override { return "Identity"; }
};

/// Base of containers. Owns its layers, which are given by value or as unique_ptr.
struct LayerContainer : Layer {
  std::vector<Owned<Layer>> layers;

  /// Adds a layer at the end, and puts it into evaluation mode if the container is in evaluation
  /// mode.
  void append(Owned<Layer> layer) {
    if (layer && !training()) layer->eval();
    layers.push_back(std::move(layer));
  }
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  bool per_position() const override;  ///< Whether all layers are per-position.
  void visit(Visitor& v) override { v("layers", layers); }
};

/// Layers in sequence:  Sequential net(Linear({.in = 4, .out = 64}, rng), Activation(…));
/// Calling it throws Error if it has no layers, for example after it was moved from.
struct Sequential : LayerContainer {
  template <class... L>
  explicit Sequential(L... list) {
    (append(std::move(list)), ...);
  }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  std::string describe() const override;
};

/// y = Σ_i branch_i(x):  a residual block is SumBranches(Identity(), Sequential(…)). The limit adds
/// the branches' kernels, which is right only if all branches but one end in random linear maps
/// with separate weights (Error if not).
struct SumBranches : LayerContainer {
  template <class... L>
  explicit SumBranches(L... list) {
    (append(std::move(list)), ...);
  }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  std::string describe() const override;
};

/// y = Π_i branch_i(x), elementwise, as in gated units. The limit multiplies the branches' NNGP
/// kernels k_i, and their tangent kernels t_i give t' = Σ_i t_i Π_{j≠i} k_j, under the same
/// condition as for SumBranches. The product is not Gaussian: a random linear map must come before
/// the next activation.
struct MultiplyBranches : LayerContainer {
  template <class... L>
  explicit MultiplyBranches(L... list) {
    (append(std::move(list)), ...);
  }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  std::string describe() const override;
};

/// Concatenates the channels of its branches:  ConcatenateBranches({8, 4}, branch_8, branch_4). The
/// limit is the mean of their kernels over channels, k' = Σ_i (d_i/Σ_j d_j)·k_i for d_i channels of
/// branch i; likewise for the tangent kernel t. Branches may be correlated, but the next layer must
/// be a random linear map: the channels of different branches are not identically distributed.
struct ConcatenateBranches : LayerContainer {
  std::vector<std::int64_t> widths;  ///< d_i, channels of branch i (Error if its output differs).

  template <class... L>
  explicit ConcatenateBranches(std::vector<std::int64_t> channels, L... list)
      : widths(std::move(channels)) {
    (append(std::move(list)), ...);
  }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  std::string describe() const override;
};

/// y = sqrt(alpha)·x + sqrt(1 − alpha)·branch(x), with the NNGP kernel
///   k' = alpha·k + (1 − alpha)·k_branch
/// and likewise the NTK: y has the variance of x if branch(x) has the same variance. With attention
/// as the branch, this is the residual attention of Hron et al. 2020. The branch must end in a
/// random linear map (limit() throws Error if not).
struct Residual : Layer {
  double alpha;
  Owned<Layer> branch;

  /// Throws Error unless 0 ≤ alpha ≤ 1.
  Residual(double alpha, Owned<Layer> branch);
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  bool per_position() const override { return branch->per_position(); }
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override { v("branch", branch); }
  std::string describe() const override;
};

}  // namespace ladon
