#pragma once
// Windows that slide over an axis of positions: what pooling and convolution see.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ladon/autograd/ops/windows/convolution.h"
#include "ladon/core/tensor.h"

namespace ladon {

enum class Padding {
  valid,    ///< Windows inside the positions only, and what is put around them by number.
  same,     ///< ceil(n/stride) windows; what they lack is put around, half in front (rounded down).
  circular  ///< As many; the positions are a ring. Needs size ≤ n.
};

/// The padding of that name ("same"). Throws Error listing the names otherwise.
Padding padding_from_name(std::string_view name);
std::string_view to_string(Padding padding);

struct SlidingWindow {
  std::int64_t size = 1, stride = 1;
  Padding padding = Padding::valid;
  std::int64_t dilation = 1;
  std::int64_t in_front = 0, behind = 0;  ///< Zeros put around n positions; `valid` alone has them.

  /// Positions from the first tap to the last, both included.
  std::int64_t extent() const;
  /// The number of windows on n positions. Throws Error where not even one fits.
  std::int64_t count(std::int64_t n) const;
  /// Positions put in front of the n, and behind them. Tap o of window i sees position
  /// i·stride − before + o·dilation.
  std::int64_t before(std::int64_t n) const;
  std::int64_t after(std::int64_t n) const;
};

/// Windows as options of layers give them, a number per axis; an empty list is the default on each.
struct WindowSizes {
  Shape size;
  Shape stride = {};  ///< 1
  Padding padding = Padding::valid;
  Shape dilation = {};  ///< 1
  Shape before = {},
        after = {};  ///< Zeros put around, in place of `padding`; no `after`: as before.
};
/// "[3, 3], stride [1, 1], same", and the dilation where there is one.
std::string describe(const std::vector<SlidingWindow>& windows);

namespace detail {

/// One window per axis. Throws Error naming `operation` where a number is not positive (of zeros:
/// negative) or lists differ in length.
std::vector<SlidingWindow> windows_of(std::string_view operation, const WindowSizes& sizes);
/// The taps of each.
Shape sizes_of(const std::vector<SlidingWindow>& windows);
/// "; channels stand last: permute(x, {0, 2, 3, 1})" where x has its channels behind the batch, and
/// the batch axis that x lacks.
std::string channels_hint(const Tensor& x, int axes, std::int64_t channels);
/// The number of windows on each axis; −1 where that of the positions is not known (−1). Throws
/// Error naming `operation` where the axes differ in number, and where positions are masked but do
/// not stay: later layers would need a new mask.
Shape window_counts(std::string_view operation, const std::vector<SlidingWindow>& windows,
                    const Shape& positions, bool masked);
/// x with what its windows lack put around an axis: zeros, or the other end of the ring.
Tensor surround(const Tensor& x, int axis, const SlidingWindow& window);
/// Operand x [N, positions.., C] of windows, as operations take it
/// (autograd/ops/windows/convolution.h): rings are put around x, zeros are left to the operation.
struct Surrounded {
  Tensor x;
  WindowOptions options;
};
Surrounded surround(const Tensor& x, const std::vector<SlidingWindow>& windows);
/// (view) What each window sees at one of its `size` taps, for x that surround() gave and `count`
/// windows.
Tensor tap(const Tensor& x, int axis, const SlidingWindow& window, std::int64_t count,
           std::int64_t index);
/// A mask (bool [N, positions]) as it stands on x [N, .., d]: [N, .., 1]. Throws Error naming
/// `operation` for one that does not fit.
Tensor spread_mask(std::string_view operation, const Tensor& x, const Tensor& mask);
/// x [N, .., d] with zeros where mask (bool [N, positions], true = token) is false; x itself
/// without a mask. Throws Error naming `operation` for a mask that does not fit.
Tensor zero_masked(std::string_view operation, const Tensor& x, const Tensor& mask);
/// Σ over each window:  [.., n, ..] → [.., count, ..].
Tensor window_sums(const Tensor& x, int axis, const SlidingWindow& window);

}  // namespace detail

}  // namespace ladon
