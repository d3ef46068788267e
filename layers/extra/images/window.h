#pragma once
// Sliding windows over an axis of positions, for pooling and convolution.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ladon/autograd/extra/windows/convolution.h"
#include "ladon/core/tensor.h"

namespace ladon {

enum class Padding {
  valid,    ///< Only windows inside the positions and the given zeros around them.
  same,     ///< ceil(n/stride) windows; zeros are added as needed, half in front (rounded down).
  circular  ///< As many windows as `same`; positions form a ring. Needs size ≤ n.
};

/// The padding of that name ("same"). Throws Error listing the names otherwise.
Padding padding_from_name(std::string_view name);
std::string_view to_string(Padding padding);

struct SlidingWindow {
  std::int64_t size = 1, stride = 1;
  Padding padding = Padding::valid;
  std::int64_t dilation = 1;
  std::int64_t in_front = 0, behind = 0;  ///< Zeros added around n positions; only with `valid`.

  /// Positions from the first tap to the last, both included.
  std::int64_t extent() const;
  /// The number of windows on n positions. Throws Error if none fits.
  std::int64_t count(std::int64_t n) const;
  /// Positions added before and after the n. Tap o of window i sees position
  /// i·stride − before + o·dilation.
  std::int64_t before(std::int64_t n) const;
  std::int64_t after(std::int64_t n) const;
};

/// Windows as options of layers give them, one number per axis; an empty list means the default.
struct WindowSizes {
  Shape size;
  Shape stride = {};  ///< 1
  Padding padding = Padding::valid;
  Shape dilation = {};  ///< 1
  Shape before = {},
        after = {};  ///< Zeros at both ends, instead of `padding`; no `after`: as before.
};
/// "[3, 3], stride [1, 1], same", and any dilation.
std::string describe(const std::vector<SlidingWindow>& windows);

namespace detail {

/// One window per axis. Throws Error naming `operation` if a number is not positive (or a number of
/// zeros is negative), and if lists differ in length.
std::vector<SlidingWindow> windows_of(std::string_view operation, const WindowSizes& sizes);
/// The size of each window.
Shape sizes_of(const std::vector<SlidingWindow>& windows);
/// Hint for an Error: "; channels come last: permute(x, {0, 2, 3, 1})" if x has its channels after
/// the batch; also names a batch axis that x lacks.
std::string channels_hint(const Tensor& x, int axes, std::int64_t channels);
/// The number of windows per axis; −1 if the number of positions is unknown (−1). Throws Error
/// naming `operation` if the numbers of axes differ, and if positions are masked but their number
/// changes: later layers would need a new mask.
Shape window_counts(std::string_view operation, const std::vector<SlidingWindow>& windows,
                    const Shape& positions, bool masked);
/// x with the positions that windows need added around an axis: zeros, or the other end of the
/// ring.
Tensor surround(const Tensor& x, int axis, const SlidingWindow& window);
/// Input x [N, positions.., C] of window operations (autograd/extra/windows/convolution.h):
/// circular padding is added to x, zeros are left to the operation.
struct Surrounded {
  Tensor x;
  WindowOptions options;
};
Surrounded surround(const Tensor& x, const std::vector<SlidingWindow>& windows);
/// (view) Elements that `count` windows see at tap `index`, for x from surround().
Tensor tap(const Tensor& x, int axis, const SlidingWindow& window, std::int64_t count,
           std::int64_t index);
/// Σ over each window:  [.., n, ..] → [.., count, ..].
Tensor window_sums(const Tensor& x, int axis, const SlidingWindow& window);

}  // namespace detail

}  // namespace ladon
