#pragma once
// Batch normalization (Ioffe and Szegedy 2015), channels last.

#include <optional>

#include "ladon/layers/layer.h"

namespace ladon {

struct BatchNormOptions {
  std::int64_t dim;
  double eps = 1e-5;
  /// Weight of the newest batch in running statistics; none: they are the mean over all batches.
  std::optional<double> momentum = 0.1;
  bool affine = true;  ///< Trained weight (from 1) and bias (from 0).
  bool track_running_stats =
      true;  ///< false: batches are normalized by themselves in evaluation too.
};

/// Zero mean and unit variance of each channel, [.., dim] → [.., dim], over all other axes: in
/// training mode of the batch itself, whose statistics (the variance with divisor n − 1) also enter
/// the running ones; in evaluation mode of those. With a mask only visible positions are counted,
/// and in training mode the others give 0. A variance beyond the dtype of the running one counts as
/// its largest number.
///
/// Running statistics are a part of the state, under PyTorch's names. A forward pass in training
/// mode edits them in place, also where nothing is recorded; several threads may do so at once, but
/// then the order of their batches is chance. The second run of checkpoint()
/// (autograd/transforms/functional.h) is not counted. It has no limit: examples of a batch meet in
/// it.
struct BatchNorm : Layer {
  Tensor weight, bias;                       ///< [dim]; undefined when affine = false
  mutable Tensor running_mean, running_var;  ///< [dim], from 0 and 1; undefined when not tracked
  mutable Tensor num_batches_tracked;        ///< i64 number
  std::int64_t dim;
  double eps;
  std::optional<double> momentum;

  /// Throws Error unless dim is positive and momentum in [0, 1].
  explicit BatchNorm(const BatchNormOptions& options);
  /// Throws Error in training mode for fewer than two vectors.
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  /// Throws Error: examples of a batch meet in it, so that no kernel is one of two inputs.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  void count(const Tensor& mean, const Tensor& var, std::int64_t n) const;
};

}  // namespace ladon
