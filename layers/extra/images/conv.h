#pragma once
// Convolutions, channels last.

#include <vector>

#include "ladon/layers/extra/images/window.h"
#include "ladon/layers/linear.h"

namespace ladon {

struct ConvOptions {
  std::int64_t in, out;
  Shape window;       ///< {w} or {h, w}: size of the filter in taps.
  Shape stride = {};  ///< If empty, 1 on every axis.
  Padding padding = Padding::same;
  /// Numbers of zeros added before and after the positions of each axis, instead of `padding`
  /// (Error if that is circular). If `after` is empty, `before` holds for both ends.
  Shape before = {}, after = {};
  Shape dilation = {};      ///< If empty, 1 on every axis.
  std::int64_t groups = 1;  ///< Outputs of a group see only the in/groups channels of the group.
  // Options as in LinearOptions, for a Linear on patches: fan_in = taps·in/groups, fan_out = out.
  // Those that the parameterization does not read must have their defaults here, too.
  bool bias = true;
  Init init = Init::kaiming_normal;
  double gain = 1;
  Parameterization parameterization = Parameterization::standard;
  double weight_std = 1;
  double bias_std = 0;
};

/// A convolution, computed as a Linear on patches. The patch of a position contains the inputs in
/// its window: the taps in row-major order, each with its channels, with zeros outside the input
/// and at masked positions. With a mask the number of positions must not change (Error).
struct Conv : Layer {
  std::vector<SlidingWindow> windows;
  std::int64_t groups;
  Linear on_patches;  ///< weight [out, taps·in/groups], bias [out]

  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  /// Linear's limit for the kernel of patches, a mean over taps o, each of which shifts both
  /// positions a and b equally: k_patch,ab = (1/taps)·Σ_o k_{a+o, b+o}, where terms outside the
  /// input are 0   (Novak et al. 2019; Arora et al. 2019, "On exact computation with an infinitely
  /// wide neural net"). Diagonal entries need only diagonal entries of k. Throws Error for groups:
  /// the mean kernel over the channels of one group may differ from that over all channels.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override { on_patches.visit(v); }
  std::string describe() const override;

 protected:
  Conv(const char* name, int axes, const ConvOptions& options, Generator& rng);

 private:
  std::int64_t in() const;
  Tensor of_patches(const detail::Surrounded& seen) const;
  const char* name_;
};

/// [N, T, in] → [N, T', out]:  Conv1d({.in = 3, .out = 64, .window = {3}}, rng).
struct Conv1d : Conv {
  /// Throws Error if a size is not positive, if groups do not divide the channels evenly, and
  /// unless there is one window size.
  Conv1d(const ConvOptions& options, Generator& rng) : Conv("Conv1d", 1, options, rng) {}
};

/// [N, H, W, in] → [N, H', W', out]:  Conv2d({.in = 3, .out = 64, .window = {3, 3}}, rng).
struct Conv2d : Conv {
  /// Throws Error if a size is not positive, if groups do not divide the channels evenly, and
  /// unless there are two window sizes.
  Conv2d(const ConvOptions& options, Generator& rng) : Conv("Conv2d", 2, options, rng) {}
};

}  // namespace ladon
