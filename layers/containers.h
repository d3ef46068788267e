#pragma once
// Layers made of layers.

#include <memory>
#include <utility>
#include <vector>

#include "ladon/layers/layer.h"

namespace ladon {

/// The identity: a branch that passes its input on.
struct Identity : Layer {
  Tensor forward(const Tensor& x) const override { return x; }
  bool per_position() const override { return true; }
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override { return "Identity"; }
};

/// Layers that are owned, given as values or as unique_ptr.
struct LayerContainer : Layer {
  std::vector<Owned<Layer>> layers;

  /// Adds a layer at the end. Where the container is in evaluation mode, so is the layer then.
  void append(Owned<Layer> layer) {
    if (layer && !training()) layer->eval();
    layers.push_back(std::move(layer));
  }
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  bool per_position() const override;  ///< Whether all of them are.
  void visit(Visitor& v) override { v("layers", layers); }
};

/// One after the other:  Sequential net(Linear({.in = 4, .out = 64}, rng), Activation(…));
/// Throws Error, when it is called, where it has no layers: a moved-from one has none.
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
/// kernels, which holds where all branches but one end in random linear maps of their own (Error if
/// not).
struct SumBranches : LayerContainer {
  template <class... L>
  explicit SumBranches(L... list) {
    (append(std::move(list)), ...);
  }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  std::string describe() const override;
};

/// y = Π_i branch_i(x), elementwise: gates. The limit multiplies kernels, t' = Σ_i t_i Π_{j≠i} k_j,
/// under the same condition as Sum's. The product is not Gaussian: a random linear map must stand
/// between it and an activation.
struct MultiplyBranches : LayerContainer {
  template <class... L>
  explicit MultiplyBranches(L... list) {
    (append(std::move(list)), ...);
  }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  std::string describe() const override;
};

/// The channels of branches side by side:  ConcatenateBranches({8, 4}, branch_of_8, branch_of_4).
/// The mean over channels of their kernels is the limit: k' = Σ_i (d_i/Σ_j d_j)·k_i, and so for t.
/// Branches may be correlated; but what follows must be a random linear map, since the channels of
/// different branches do not share one law.
struct ConcatenateBranches : LayerContainer {
  std::vector<std::int64_t> widths;  ///< d_i, the channels each branch gives (Error where not so).

  template <class... L>
  explicit ConcatenateBranches(std::vector<std::int64_t> channels, L... list)
      : widths(std::move(channels)) {
    (append(std::move(list)), ...);
  }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  std::string describe() const override;
};

/// y = sqrt(alpha)·x + sqrt(1 − alpha)·branch(x):  k' = alpha·k + (1 − alpha)·branch's, so that the
/// variance stays what it is. With an attention as the branch: the residual attention of Hron et
/// al. 2020. The branch ends in a random linear map (Error of the limit if not).
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
