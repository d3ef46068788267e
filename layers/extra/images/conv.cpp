#include "ladon/layers/extra/images/conv.h"

#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/extra/images/kernel_windows.h"
#include "ladon/layers/infinite/kernel/graph.h"
#include "ladon/layers/linear_options.h"
#include "ladon/layers/masked.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon {
namespace {

/// Number of elements in a patch: `channels` per tap.
std::int64_t patch_size(const std::vector<SlidingWindow>& windows, std::int64_t channels) {
  std::int64_t size = channels;
  for (const SlidingWindow& w : windows) size = detail::checked_product("Conv", size, w.size);
  return size;
}

/// The windows of a layer with `axes` axes of positions.
std::vector<SlidingWindow> checked_windows(const char* name, int axes, const ConvOptions& o) {
  LADON_CHECK(o.window.rank() == axes, name, "needs ", axes, " window size", axes == 1 ? "" : "s",
              ", got ", o.window);
  LADON_CHECK(o.in > 0 && o.out > 0, name, "sizes must be positive, got in = ", o.in,
              ", out = ", o.out);
  LADON_CHECK(o.groups > 0 && o.in % o.groups == 0 && o.out % o.groups == 0, name, o.groups,
              " groups do not divide ", o.in, " channels and ", o.out, " outputs evenly");
  return detail::windows_of(name, {.size = o.window,
                                   .stride = o.stride,
                                   .padding = o.padding,
                                   .dilation = o.dilation,
                                   .before = o.before,
                                   .after = o.after});
}

LinearOptions on_patches_options(const char* name, const ConvOptions& o,
                                 const std::vector<SlidingWindow>& windows) {
  LinearOptions options{.in = patch_size(windows, o.in / o.groups),
                        .out = o.out,
                        .bias = o.bias,
                        .init = o.init,
                        .gain = o.gain,
                        .parameterization = o.parameterization,
                        .weight_std = o.weight_std,
                        .bias_std = o.bias_std};
  detail::check_read(name, options, ConvOptions{}.init);
  if (o.parameterization == Parameterization::ntk) options.init = LinearOptions{}.init;
  return options;
}

/// Part of x that belongs to group i: slice i of `groups` equal slices along an axis.
Tensor share(const Tensor& x, int axis, std::int64_t i, std::int64_t groups) {
  const std::int64_t size = x.size(axis) / groups;
  return slice(x, axis, {.start = i * size, .stop = (i + 1) * size});
}

}  // namespace

Conv::Conv(const char* name, int axes, const ConvOptions& o, Generator& rng)
    : windows(checked_windows(name, axes, o)),
      groups(o.groups),
      on_patches(on_patches_options(name, o, windows), rng),
      name_(name) {}

std::int64_t Conv::in() const {
  return on_patches.weight.size(1) / patch_size(windows, 1) * groups;
}

Tensor Conv::forward_masked(const Tensor& x, const Tensor& mask) const {
  const int axes = detail::axes_of(name_, windows);
  detail::warn_of_precision(name_, x, on_patches.weight);
  LADON_CHECK(x.rank() == axes + 2 && x.size(-1) == in(), name_, "expects [N, ",
              axes == 1 ? "T, " : "H, W, ", in(), "], got shape ", x.shape(),
              detail::channels_hint(x, axes, in()));
  detail::window_counts(name_, windows, x.shape().sub(1, x.rank() - 1), mask.defined());
  const detail::Surrounded seen = detail::surround(detail::zero_masked(name_, x, mask), windows);
  if (ParameterUses::active()) return of_patches(seen);
  Shape weight = detail::sizes_of(windows);
  weight.insert(0, on_patches.weight.size(0));
  weight.append(in() / groups);
  const WindowOptions& o = seen.options;
  return convolution(on_patches.scaled_input(seen.x), reshape(on_patches.weight, weight),
                     on_patches.scaled_bias(), {o.stride, o.before, o.after, o.dilation, groups});
}

/// Convolution by explicit patches, for ParameterUses: each group is a Linear on its patches.
Tensor Conv::of_patches(const detail::Surrounded& seen) const {
  const Tensor patches = unfold(seen.x, detail::sizes_of(windows), seen.options);
  if (groups == 1) return on_patches(patches);
  Shape by_tap = patches.shape();
  by_tap[by_tap.rank() - 1] = patch_size(windows, 1);
  by_tap.append(in());
  const Tensor taps = on_patches.scaled_input(reshape(patches, by_tap));
  const Tensor bias = on_patches.scaled_bias();
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < groups; ++i) {
    const Tensor x = flatten(share(taps, -1, i, groups), -2, -1);
    parts.push_back(linear(x, share(on_patches.weight, 0, i, groups),
                           bias.defined() ? share(bias, 0, i, groups) : bias));
    on_patches.report(x, parts.back());
  }
  return concat(parts, -1);
}

infinite::KernelNode Conv::limit(const infinite::KernelNode& k) const {
  LADON_CHECK(groups == 1, name_, "no limit of infinite width is known for ", groups,
              " groups; estimate its kernel from finite networks with "
              "infinite::monte_carlo_kernel");
  const int axes = static_cast<int>(windows.size());
  const Shape before = k.positions;
  const Shape counts = detail::window_counts(name_, windows, before, k.masked);
  const std::int64_t taps = patch_size(windows, 1);
  // The taps of a 2-D window are all pairs of a row and a column, so the sum over taps is one sum
  // per axis.
  const auto of_pairs = [=, this](const Tensor& block) {
    Tensor sums = infinite::split_positions(block, before);
    for (int i = 0; i < axes; ++i)
      sums = infinite::joint_window_sums(sums, i - 2 * axes, i - axes, windows[i]);
    return infinite::join_positions(sums, counts);
  };
  const auto of_own = [=, this](const Tensor& block) {
    Shape split = block.shape().sub(0, block.rank() - 1);
    for (const std::int64_t size : before) split.append(size);
    Tensor sums = reshape(block, split);
    for (int i = 0; i < axes; ++i)
      sums = detail::window_sums(sums, sums.rank() - axes + i, windows[i]);
    return flatten(sums, -axes, -1);
  };
  const auto formula = [taps] {
    const std::string how = detail::join("mean over the ", taps, " taps o of ");
    return infinite::Formula{how + "$k_{a+o, b+o}", how + "$t_{a+o, b+o}"};
  };
  const infinite::Step patches{.makes = k.law.side_by_side(taps),
                               .formula = formula,
                               .needs = infinite::Needs::wanted,
                               .positions = counts};
  return on_patches.limit(infinite::map_pairs(k, patches, [=](const infinite::Pairs& pairs) {
    return pairs.each([&](const Tensor& block) {
      const Tensor seen = pairs.visible(block);
      const bool own = pairs.entries == infinite::Entries::diagonal;
      return (own ? of_own(seen) : of_pairs(seen)) / static_cast<double>(taps);
    });
  }));
}

std::string Conv::describe() const {
  return detail::join(name_, "(", in(), " → ", on_patches.weight.size(0), ", window ",
                      ladon::describe(windows),
                      groups == 1 ? "" : detail::join(", groups ", groups),
                      on_patches.bias.defined() ? ")" : ", no bias)");
}

}  // namespace ladon
