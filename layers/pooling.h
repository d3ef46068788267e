#pragma once
// Pooling over all positions. (Over windows: window_pooling.h.)
//
// `mask` (bool [batch, T], true = token; T = H·W for images) excludes padding; without a mask every
// position counts. A sequence without tokens gives zeros.
//
// Pooling (except by the maximum) is linear over positions: y_n = A_n·x_n for an input x_n [T, dim]
// and a matrix A_n that depends only on the mask, and is the same for each channel. Its limit is
// therefore k' = A_n·k·A_mᵀ and t' = A_n·t·A_mᵀ for the T × T blocks k (NNGP kernel) and t (NTK) of
// inputs n and m   (Novak et al. 2019, "Bayesian deep convolutional networks with many channels are
// Gaussian processes").

#include <string_view>

#include "ladon/layers/layer.h"

namespace ladon {

// --- functions:  [batch, T, dim] → [batch, dim] ---

enum class Pooling { mean, max, first };

/// The pooling named `name` ("mean"). Throws Error listing all names if there is none.
Pooling pooling_from_name(std::string_view name);

Tensor mean_positions(const Tensor& x, const Tensor& mask = {});
/// Maximum of each channel over the visible positions; 0 for a sequence whose positions are all
/// masked.
Tensor max_positions(const Tensor& x, const Tensor& mask = {});
/// The vector of the first position, which must be visible: this function takes no mask.
Tensor first_token(const Tensor& x);
/// Calls the function above that `kind` names. Throws Error unless the mask is bool [batch, T],
/// whatever the kind, and for Pooling::first if it hides the first position of an input and shows
/// another. A sequence whose positions are all masked gives zeros.
Tensor pool(Pooling kind, const Tensor& x, const Tensor& mask = {});

// --- layers ---

/// The mean over all positions:  [N, T, d] or [N, H, W, d] → [N, d].  k' = mean of k_ab over the
/// visible positions a and b.
struct MeanPositions : Layer {
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override { return "MeanPositions"; }
};

/// The sum over all positions, with the shapes of MeanPositions.  k' = Σ k_ab over the visible
/// positions a and b.
struct SumPositions : Layer {
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override { return "SumPositions"; }
};

/// The largest element of each channel over all positions, like max_positions():  [N, T, d] or
/// [N, H, W, d] → [N, d].  It has no limit: the maximum of correlated Gaussians is not Gaussian.
struct MaxPositions : Layer {
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  void visit(Visitor&) override {}
  std::string describe() const override { return "MaxPositions"; }
};

/// Concatenates all positions, masked ones as zeros:  [N, T, d] or [N, H, W, d] → [N, T·d]. Vectors
/// are unchanged. k' = (1/T)·Σ_a k_aa: each position is paired only with itself. The next layer
/// must be a random linear map, since channels of different positions are not identically
/// distributed.
struct Flatten : Layer {
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override { return "Flatten"; }
};

/// The first position alone, like first_token():  [N, T, d] or [N, H, W, d] → [N, d].  k' = k_00.
/// Networks and limit throw Error for a mask that hides the first position of an input and shows
/// another; an input whose positions are all masked gives 0.
struct FirstToken : Layer {
  Tensor forward(const Tensor& x) const override;
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override { return "FirstToken"; }
};

/// The pixels of images as a sequence of tokens:  [N, H, W, d] → [N, H·W, d]. Sequences and kernels
/// are unchanged.
struct FlattenPositions : Layer {
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override { return "FlattenPositions"; }
};

}  // namespace ladon
