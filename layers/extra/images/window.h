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
  valid,    ///< Only windows that fit into the n positions and the zeros in_front and behind.
  same,     ///< ceil(n/stride) windows; zeros are added as needed, half in front (rounded down).
  circular  ///< As many windows as `same`; positions form a ring. Needs extent() ≤ n.
};

/// The padding named `name` ("same"). Throws Error listing all names if there is none.
Padding padding_from_name(std::string_view name);
std::string_view to_string(Padding padding);

struct SlidingWindow {
  std::int64_t size = 1, stride = 1;
  Padding padding = Padding::valid;
  std::int64_t dilation = 1;
  std::int64_t in_front = 0, behind = 0;  ///< Zeros added around n positions; only with `valid`.

  /// Number of positions from the first tap to the last, both included.
  std::int64_t extent() const;
  /// The number of windows on n positions. Throws Error if no window fits, and for in_front or
  /// behind with another padding than `valid`.
  std::int64_t count(std::int64_t n) const;
  /// Number of positions added before and after n positions. Tap o of window i sees position
  /// i·stride − before + o·dilation.
  std::int64_t before(std::int64_t n) const;
  std::int64_t after(std::int64_t n) const;
};

/// Sizes of sliding windows in the options of layers: one number per axis; an empty list means the
/// default.
struct WindowSizes {
  Shape size;
  Shape stride = {};  ///< Default: 1.
  Padding padding = Padding::valid;
  Shape dilation = {};  ///< Default: 1.
  /// Numbers of zeros added before and after the positions of each axis, instead of `padding`
  /// (Error if that is circular). If `after` is empty, `before` holds for both ends.
  Shape before = {}, after = {};
};
/// Text such as "[3, 3], stride [1, 1], same"; with the dilation if it is not 1.
std::string describe(const std::vector<SlidingWindow>& windows);

namespace detail {

/// One window per axis. Throws Error naming `operation` if a size, stride or dilation is not
/// positive, if a number of zeros is negative, and if lists differ in length.
std::vector<SlidingWindow> windows_of(std::string_view operation, const WindowSizes& sizes);
/// Number of axes of the windows. Throws Error if there is none: their layer was moved from.
int axes_of(std::string_view operation, const std::vector<SlidingWindow>& windows);
/// The size of each window.
Shape sizes_of(const std::vector<SlidingWindow>& windows);
/// Hint for an Error: "; channels come last: permute(x, {0, 2, 3, 1})" if x has its channels after
/// the batch; or that x lacks a batch axis.
std::string channels_hint(const Tensor& x, int axes, std::int64_t channels);
/// The number of windows per axis; −1 if the number of positions is unknown (−1). Throws Error
/// naming `operation` if windows and positions have different numbers of axes, and if positions are
/// masked but their number changes: later layers would need a new mask.
Shape window_counts(std::string_view operation, const std::vector<SlidingWindow>& windows,
                    const Shape& positions, bool masked);
/// x, extended at both ends of an axis by the positions that the windows need: zeros or, for
/// circular padding, the positions at the opposite end.
Tensor surround(const Tensor& x, int axis, const SlidingWindow& window);
/// Input and options of a window operation (autograd/extra/windows/convolution.h) on
/// x [N, positions.., C]: circular padding is already added to x, zeros are added by the operation.
struct Surrounded {
  Tensor x;
  WindowOptions options;
};
Surrounded surround(const Tensor& x, const std::vector<SlidingWindow>& windows);
/// (view) Elements that `count` windows see at tap `index`, for x from surround().
Tensor tap(const Tensor& x, int axis, const SlidingWindow& window, std::int64_t count,
           std::int64_t index);
/// Sum over each window:  [.., n, ..] → [.., count, ..].
Tensor window_sums(const Tensor& x, int axis, const SlidingWindow& window);

}  // namespace detail

}  // namespace ladon
