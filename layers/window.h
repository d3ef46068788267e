#pragma once
// Windows that slide over an axis of positions: what pooling and convolution see.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

enum class Padding {
  valid,    ///< Windows inside the positions only: (n − size)/stride + 1 of them.
  same,     ///< ceil(n/stride) windows; what they lack is put around, half in front (rounded down).
  circular  ///< As many; the positions are a ring. Needs size ≤ n.
};

/// The padding of that name ("same"). Throws Error listing the names otherwise.
Padding padding_from_name(std::string_view name);
std::string_view to_string(Padding padding);

struct Window {
  std::int64_t size = 1, stride = 1;
  Padding padding = Padding::valid;

  /// The number of windows on n positions. Throws Error where not even one fits.
  std::int64_t count(std::int64_t n) const;
  /// Positions put in front of the n. Window i sees [i·stride − before, i·stride − before + size).
  std::int64_t before(std::int64_t n) const;
};

/// One window an axis; an empty `stride` is all ones. Throws Error naming `operation` where a size
/// is not positive or the two differ in length.
std::vector<Window> windows_of(std::string_view operation, const Shape& size, const Shape& stride,
                               Padding padding);
/// The number of windows on each axis. Throws Error naming `operation` where the axes differ in
/// number, and where positions are masked but do not stay: later layers would need a new mask.
Shape window_counts(std::string_view operation, const std::vector<Window>& windows,
                    const Shape& positions, bool masked);
/// "[3, 3], stride [1, 1], same".
std::string describe(const std::vector<Window>& windows);

/// x with what its windows lack put around an axis: zeros, or the other end of the ring.
Tensor surround(const Tensor& x, int axis, const Window& window);
/// (view) What each window sees at one of its `size` taps, for x that surround() gave and `count`
/// windows.
Tensor tap(const Tensor& x, int axis, const Window& window, std::int64_t count, std::int64_t index);
/// x [N, .., d] with zeros where mask (bool [N, positions], true = token) is false; x itself without
/// a mask. Throws Error naming `operation` for a mask that does not fit.
Tensor zero_masked(std::string_view operation, const Tensor& x, const Tensor& mask);
/// Σ over each window:  [.., n, ..] → [.., count, ..].
Tensor window_sums(const Tensor& x, int axis, const Window& window);

}  // namespace ladon
