#pragma once
// Pooling over windows, channels last:  x [N, positions.., C] → [N, counts.., C], channel by
// channel, over as many axes as the window has. (Over *all* positions: mean_positions and
// max_positions in layers/pooling.h.) Windows stand as those of convolution (convolution.h), by
// default side by side.

#include <optional>

#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/windows/convolution.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// The largest element of each window. The gradient goes to the first position that has it. What
/// lies outside is no element: a window that sees nothing gives −∞. NaN propagates.
Tensor max_pool(const Tensor& x, const Shape& window, const WindowOptions& options = {});
/// The same, with the positions of the elements (i64 [N, counts.., C]), counted in row-major order;
/// −1 for a window that sees nothing.
ValuesAndIndices max_pool_with_indices(const Tensor& x, const Shape& window,
                                       const WindowOptions& options = {});

struct AveragePoolOptions {
  Shape stride = {};                   ///< The window, so that windows do not overlap.
  Shape before = {}, after = {};       ///< 0
  Shape dilation = {};                 ///< 1
  bool count_padding = false;          ///< Divide by all taps, also those outside.
  std::optional<double> divisor = {};  ///< Divide by this instead: 1 for sums.
};
/// The mean over each window; NaN for one that sees nothing, unless padding counts.
Tensor average_pool(const Tensor& x, const Shape& window, const AveragePoolOptions& options = {});

/// Maximum, or mean, over counts[a] windows on axis a, which share its n positions evenly:
/// [⌊i·n/count⌋, ⌈(i + 1)·n/count⌉). {1, 1}: one window. Throws Error unless counts are positive.
Tensor adaptive_max_pool(const Tensor& x, const Shape& counts);
Tensor adaptive_average_pool(const Tensor& x, const Shape& counts);

}  // namespace ladon
