#include "ladon/layers/conv.h"

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/kernel/kernel.h"
#include "ladon/layers/infinite/kernel/windows.h"

namespace ladon {
namespace {

/// Elements of a patch: its taps, `channels` each.
std::int64_t patch_size(const std::vector<Window>& windows, std::int64_t channels) {
  std::int64_t size = channels;
  for (const Window& w : windows) size = checked_product("Conv", size, w.size);
  return size;
}

/// The windows of a layer with `axes` axes of positions.
std::vector<Window> checked_windows(const char* name, int axes, const ConvOptions& o) {
  LADON_CHECK(o.window.rank() == axes, name, "needs ", axes, " window size", axes == 1 ? "" : "s",
              ", got ", o.window);
  LADON_CHECK(o.in > 0 && o.out > 0, name, "sizes must be positive, got in = ", o.in,
              ", out = ", o.out);
  return windows_of(name, o.window, o.stride, o.padding);
}

LinearOptions on_patches_options(const ConvOptions& o, const std::vector<Window>& windows) {
  return {.in = patch_size(windows, o.in),
          .out = o.out,
          .bias = o.bias,
          .init = o.init,
          .gain = o.gain,
          .parameterization = o.parameterization,
          .weight_std = o.weight_std,
          .bias_std = o.bias_std};
}

/// [N, H, W, C] → [N, H', W', h·w·C]; for sequences likewise with one axis.
Tensor patches(const Tensor& x, const std::vector<Window>& windows, const Shape& counts) {
  Tensor around = x;
  for (std::size_t i = 0; i < windows.size(); ++i)
    around = surround(around, 1 + static_cast<int>(i), windows[i]);
  std::vector<Tensor> parts = {around};
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const int axis = static_cast<int>(i);
    std::vector<Tensor> finer;
    for (const Tensor& part : parts)
      for (std::int64_t o = 0; o < windows[i].size; ++o)
        finer.push_back(tap(part, 1 + axis, windows[i], counts[axis], o));
    parts = std::move(finer);
  }
  return concat(parts, -1);
}

}  // namespace

Conv::Conv(const char* name, int axes, const ConvOptions& o, Generator& rng)
    : windows(checked_windows(name, axes, o)),
      on_patches(on_patches_options(o, windows), rng),
      name_(name) {}

Tensor Conv::forward_masked(const Tensor& x, const Tensor& mask) const {
  const int axes = static_cast<int>(windows.size());
  const std::int64_t in = on_patches.weight.size(1) / patch_size(windows, 1);
  LADON_CHECK(x.rank() == axes + 2 && x.size(-1) == in, name_, "expects [N, ",
              axes == 1 ? "T, " : "H, W, ", in, "], got shape ", x.shape());
  const Shape positions = x.shape().sub(1, x.rank() - 1);
  const Shape counts = window_counts(name_, windows, positions, mask.defined());
  return on_patches(patches(zero_masked(name_, x, mask), windows, counts));
}

infinite::Kernel Conv::limit(const infinite::Kernel& k) const {
  const int axes = static_cast<int>(windows.size());
  const Shape counts = window_counts(name_, windows, k.positions, k.mask1.defined());
  const std::int64_t taps = patch_size(windows, 1);
  const infinite::Law makes = k.law.side_by_side(taps);
  // The taps of a 2-D window are all pairs of a row and a column: their sum separates.
  const auto of_pairs = [&](const Tensor& block) {
    Tensor sums = infinite::split_positions(block, k.positions);
    for (int i = 0; i < axes; ++i)
      sums = infinite::joint_window_sums(sums, i - 2 * axes, i - axes,
                                         windows[static_cast<std::size_t>(i)]);
    return infinite::join_positions(sums, counts);
  };
  const auto of_own = [&](const Tensor& block) {
    Shape split = block.shape().sub(0, block.rank() - 1);
    for (const std::int64_t size : k.positions) split.append(size);
    Tensor sums = reshape(block, split);
    for (int i = 0; i < axes; ++i)
      sums = window_sums(sums, sums.rank() - axes + i, windows[static_cast<std::size_t>(i)]);
    return flatten(sums, -axes, -1);
  };
  const auto patch_kernels =
      infinite::map_pairs(k, makes, counts, [&](const infinite::Pairs& pairs) {
        return pairs.each([&](const Tensor& block) {
          const Tensor seen = pairs.visible(block);
          const bool own = pairs.entries == infinite::Entries::diagonal;
          return (own ? of_own(seen) : of_pairs(seen)) / static_cast<double>(taps);
        });
      });
  return on_patches.limit(patch_kernels);
}

std::string Conv::describe() const {
  return detail::join(name_, "(", on_patches.weight.size(1) / patch_size(windows, 1), " → ",
                      on_patches.weight.size(0), ", window ", ladon::describe(windows),
                      on_patches.bias.defined() ? ")" : ", no bias)");
}

}  // namespace ladon
