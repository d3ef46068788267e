#pragma once
// Batch normalization (Ioffe and Szegedy 2015), channels last.

#include <optional>

#include "ladon/layers/layer.h"

namespace ladon {

struct BatchNormOptions {
  std::int64_t dim;
  double eps = 1e-5;
  /// Weight of the newest batch in running statistics; nullopt makes them means over all batches.
  /// Must be 0.1 without running statistics.
  std::optional<double> momentum = 0.1;
  bool affine = true;               ///< Trained weight (initially 1) and bias (initially 0).
  bool track_running_stats = true;  ///< If false, evaluation mode uses batch statistics too.
};

/// Normalizes each channel of [.., dim] to zero mean and unit variance over all other axes: in
/// training mode by statistics of the batch, which also update the running statistics (for n
/// vectors, the running variance has divisor n − 1); in evaluation mode by the running statistics.
/// With a mask, batch statistics are those of visible positions, and outputs normalized by batch
/// statistics are 0 at masked positions. A variance that overflows the dtype of running_var is
/// stored as the dtype's largest finite number.
///
/// Running statistics are part of the state, under PyTorch's names. A forward pass in training mode
/// updates them in place, even if nothing is recorded; several threads may do so at once, but the
/// order of their batches is then random. The second run of checkpoint()
/// (autograd/checkpoint.h) does not update them. limit() throws Error: outputs depend on the whole
/// batch.
struct BatchNorm : Layer {
  Tensor weight, bias;                       ///< [dim]; undefined when affine = false
  mutable Tensor running_mean, running_var;  ///< [dim], initially 0 and 1; undefined if not tracked
  mutable Tensor num_batches_tracked;        ///< i64 scalar
  std::int64_t dim;
  double eps;
  std::optional<double> momentum;
  bool affine, track_running_stats;

  /// Throws Error unless dim is positive and momentum in [0, 1], and if momentum is set without
  /// running statistics.
  explicit BatchNorm(const BatchNormOptions& options);
  /// Throws Error in training mode for fewer than two vectors.
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  /// Throws Error: outputs depend on the whole batch, so there is no kernel of two inputs.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  void count(const Tensor& mean, const Tensor& var, std::int64_t n) const;
};

}  // namespace ladon
