#pragma once
// Pooling over windows, channel by channel: layers that reduce the number of positions. They wrap
// the operations of autograd/extra/windows/pooling.h, and add masks (bool [N, positions], true =
// token) and limits.

#include "ladon/layers/extra/images/window.h"
#include "ladon/layers/layer.h"

namespace ladon {

struct PoolOptions {
  Shape window;       ///< {w} for sequences, {h, w} for images.
  Shape stride = {};  ///< If empty, the window size, so that windows do not overlap.
  Padding padding = Padding::valid;
  /// Numbers of positions added before and after those of each axis, which no mean or maximum
  /// counts, instead of `padding` (Error if that is set too). If `after` is empty, `before` holds
  /// for both ends.
  Shape before = {}, after = {};
  Shape dilation = {};  ///< If empty, 1 on every axis.
};

/// The mean over each window:  [N, T, d] → [N, T', d], or [N, H, W, d] → [N, H', W', d]. The mean
/// is over visible positions inside the input: it excludes padding and masked positions. With a
/// mask the number of positions must not change (Error).
struct AveragePool : Layer {
  std::vector<SlidingWindow> windows;

  /// Throws Error for sizes that are not positive, or lists that differ in length.
  explicit AveragePool(const PoolOptions& options);
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  /// k' = A_n·k·A_mᵀ with the averaging matrices A_n and A_m of inputs n and m, as in pooling.h.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

/// The largest element of each window, with the shapes of AveragePool; 0 for a window without a
/// visible position. It has no limit: the maximum of correlated Gaussians is not Gaussian.
struct MaxPool : Layer {
  std::vector<SlidingWindow> windows;

  /// Throws Error for sizes that are not positive, or lists that differ in length.
  explicit MaxPool(const PoolOptions& options);
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

/// The mean over `counts` windows that divide the positions evenly:  [N, T, d] → [N, counts[0], d],
/// or [N, H, W, d] → [N, counts[0], counts[1], d], for any T, H and W. With a mask the number of
/// positions must not change (Error).
struct AdaptiveAveragePool : Layer {
  Shape counts;

  /// Throws Error if `counts` is empty or has a number that is not positive.
  explicit AdaptiveAveragePool(const Shape& counts);
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  /// k'_ij is the mean of k_ab over a in window i and b in window j.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

}  // namespace ladon
