#pragma once
// Normalization layers.

#include "ladon/layers/layer.h"

namespace ladon {

namespace detail {
/// Throws Error naming `layer` if its options gave it a tensor (`given`) that is now undefined: the
/// layer was moved from.
void check_not_moved(const char* layer, bool given, const Tensor& tensor);
}  // namespace detail

struct LayerNormOptions {
  std::int64_t dim;
  double eps = 1e-5;
  bool affine = true;  ///< Trained weight (initially 1) and bias (initially 0).
};

/// Zero mean and unit variance over the last axis:  [.., dim] → [.., dim]   (Ba et al. 2016).
struct LayerNorm : Layer {
  Tensor weight, bias;  ///< [dim]; undefined when affine = false
  std::int64_t dim;
  double eps;
  bool affine;

  explicit LayerNorm(const LayerNormOptions& options);
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// Limit for positions a and b of inputs with the NNGP kernel k_ab and the NTK t_ab: k'_ab =
  /// c_ab/r, where r = sqrt((ε + c_aa)(ε + c_bb)) and c_ab = k_ab − m_a·m_b; t'_ab = t_ab/r, plus
  /// k'_ab + 1 if weight and bias are trained. m_a is the mean over channels: that of the data, or
  /// 0 in the limit of many random channels (Yang 2019, "Tensor programs I"; Hron et al. 2020). A
  /// trained weight's part of the NTK is h_c·h'_c in channel c of the normalized inputs h and h',
  /// which equals k' only on average over channels: the next layer must then be a random linear
  /// map. Throws Error if m is unknown, as after an activation.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

struct GroupNormOptions {
  std::int64_t groups, dim;
  double eps = 1e-5;
  bool affine = true;  ///< Trained weight (initially 1) and bias (initially 0).
};

/// Zero mean and unit variance of each group of channels, over all positions of an example:
/// [N, positions.., dim] → the same   (Wu and He 2018). A mask, limit(), and groups of a single
/// number, which would be 0 for all inputs, throw Error.
struct GroupNorm : Layer {
  Tensor weight, bias;  ///< [dim]; undefined when affine = false
  std::int64_t groups, dim;
  double eps;
  bool affine;

  /// Throws Error unless `groups` divides dim.
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

/// GroupNorm with one channel per group (Ulyanov et al. 2016), without running statistics. It has
/// no limit in closed form: a channel's mean and variance over few positions stay random at any
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
  bool affine = true;  ///< Trained weight (initially 1).
};

/// x/sqrt(mean x² + ε)·weight over the last axis:  [.., dim] → [.., dim]   (Zhang and Sennrich
/// 2019).
struct RmsNorm : Layer {
  Tensor weight;  ///< [dim]; undefined when affine = false
  std::int64_t dim;
  double eps;
  bool affine;

  explicit RmsNorm(const RmsNormOptions& options);
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// Limit as for LayerNorm, but without centring, so that channels may have any mean, and without
  /// the + 1 of a bias. If a fixed table of positions gave the channels a mean, this mean is
  /// unknown after the layer, because it is divided by the root mean square of each input.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
