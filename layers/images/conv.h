#pragma once
// Convolutions, channels last.

#include <vector>

#include "ladon/layers/images/window.h"
#include "ladon/layers/linear.h"

namespace ladon {

struct ConvOptions {
  std::int64_t in, out;
  Shape window;       ///< {w} or {h, w}: taps of the filter.
  Shape stride = {};  ///< Empty: 1 on every axis.
  Padding padding = Padding::same;
  Shape before = {},
        after = {};         ///< Zeros put around, in place of `padding`; no `after`: as before.
  Shape dilation = {};      ///< Empty: 1 on every axis.
  std::int64_t groups = 1;  ///< Each sees its share of the channels alone.
  // Options as in LinearOptions, for a Linear on patches: fan_in = taps·in/groups, fan_out = out.
  bool bias = true;
  Init init = Init::kaiming_normal;
  double gain = 1;
  Parameterization parameterization = Parameterization::standard;
  double weight_std = 1;
  double bias_std = 0;
};

/// A Linear on patches. The patch of a position is what its window sees: the taps in row-major
/// order, their channels side by side, zeros outside and at masked positions. With a mask the
/// number of positions must stay (Error).
struct Conv : Layer {
  std::vector<SlidingWindow> windows;
  std::int64_t groups;
  Linear on_patches;  ///< weight [out, taps·in/groups], bias [out]

  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  /// Linear's limit of the patches' kernel, the mean over the taps o of k shifted jointly by them:
  /// k_patch,ab = (1/taps)·Σ_o k_{a+o, b+o}, where terms outside are 0   (Novak et al. 2019; Arora
  /// et al. 2019, "On exact computation with an infinitely wide neural net"). Throws Error for
  /// groups: the channels of one need not have the mean kernel of all.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  /// Taps move jointly: where each position is wanted with the same one, so are its windows.
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
  /// Throws Error where a size is not positive or groups do not share the channels evenly, or there
  /// is not one window size.
  Conv1d(const ConvOptions& options, Generator& rng) : Conv("Conv1d", 1, options, rng) {}
};

/// [N, H, W, in] → [N, H', W', out]:  Conv2d({.in = 3, .out = 64, .window = {3, 3}}, rng).
struct Conv2d : Conv {
  /// Throws Error where a size is not positive or groups do not share the channels evenly, or there
  /// are not two window sizes.
  Conv2d(const ConvOptions& options, Generator& rng) : Conv("Conv2d", 2, options, rng) {}
};

}  // namespace ladon
