#pragma once
// Normalization layers.

#include "ladon/layers/layer.h"

namespace ladon {

struct LayerNormOptions {
  std::int64_t dim;
  double eps = 1e-5;
  bool affine = true;  ///< Trained weight (from 1) and bias (from 0).
};

/// Zero mean and unit variance over the last axis:  [.., dim] → [.., dim]   (Ba et al. 2016).
struct LayerNorm : Layer {
  Tensor weight, bias;  ///< [dim]; undefined when affine = false
  std::int64_t dim;
  double eps;

  explicit LayerNorm(const LayerNormOptions& options);
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// k'_ab = c_ab/sqrt((ε + c_aa)(ε + c_bb)), c_ab = k_ab − m_a·m_b; t' = t divided by the same,
  /// and, where the weight (1) and the bias (0) are trained, + k' + 1. m are means over the
  /// channels: of data their own; of random channels, as they grow in number, 0 (Yang 2019, "Tensor
  /// programs I"; Hron et al. 2020). A trained weight's part of the NTK, h_c·h'_c in channel c, is
  /// k' only on average over channels: what follows must be a random linear map then. Throws Error
  /// where m is not known, as behind an activation.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

struct GroupNormOptions {
  std::int64_t groups, dim;
  double eps = 1e-5;
  bool affine = true;  ///< Trained weight (from 1) and bias (from 0).
};

/// Zero mean and unit variance of each group of channels, over all positions of an example:
/// [N, positions.., dim] → the same   (Wu and He 2018). It takes no mask, and has no limit here.
struct GroupNorm : Layer {
  Tensor weight, bias;  ///< [dim]; undefined when affine = false
  std::int64_t groups, dim;
  double eps;

  /// Throws Error unless groups divide dim.
  explicit GroupNorm(const GroupNormOptions& options);
  Tensor forward(const Tensor& x) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

struct InstanceNormOptions {
  std::int64_t dim;
  double eps = 1e-5;
  bool affine = false;
};

/// GroupNorm of each channel alone (Ulyanov et al. 2016); without running statistics. Its limit is
/// none in closed form: a channel's own mean and variance over few positions stay random at any
/// width.
struct InstanceNorm : GroupNorm {
  /// Throws Error unless dim is positive.
  explicit InstanceNorm(const InstanceNormOptions& o)
      : GroupNorm({.groups = o.dim, .dim = o.dim, .eps = o.eps, .affine = o.affine}) {}
  std::string describe() const override;
};

struct RmsNormOptions {
  std::int64_t dim;
  double eps = 1e-5;
  bool affine = true;  ///< Trained weight (from 1).
};

/// x/sqrt(mean x² + ε)·weight over the last axis:  [.., dim] → [.., dim]   (Zhang and Sennrich
/// 2019).
struct RmsNorm : Layer {
  Tensor weight;  ///< [dim]; undefined when affine = false
  std::int64_t dim;
  double eps;

  explicit RmsNorm(const RmsNormOptions& options);
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// LayerNorm's, without centring, so that channels may have any mean, and without the + 1 of a
  /// bias. A mean that a fixed table of positions put there is divided by each input's power, and
  /// not known after.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
